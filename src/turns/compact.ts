/**
 * Shortens a thread: its older turns become a summary, which is a turn itself, and the run's turn follows that. Nothing
 * is removed from the ledger.
 */
import { estimateTokens } from "../agents/estimate-tokens.ts";
import { CortexError } from "../model/errors.ts";
import type { TurnId } from "../model/ids.ts";
import type { Context, TurnContent } from "../store/store.ts";
import { turnFacts } from "./settle.ts";
import type { RunWork } from "./prepare.ts";
import { summarize, type SummaryWish } from "./summarize.ts";
import { historyOf, readThread } from "./thread.ts";
import type { TurnPorts } from "./turn-ports.ts";

export type CompactPorts = Pick<TurnPorts, "store" | "mintId" | "clock">;

interface Split {
  /** To be summarised, the last compaction first. */
  readonly older: readonly TurnContent[];
  /** Kept verbatim. */
  readonly kept: readonly TurnContent[];
}

/**
 * Splits a thread so that what is kept has at most so many estimated tokens. The newest turn alone may have twice as
 * many: people refer to it. Turns that the last compaction kept are older than that compaction, and go with it.
 */
export function splitThread({ compaction, turns }: Context, keptTokens: number): Split {
  const since = compaction === undefined ? -1 : compaction.turn.depth;
  let first = turns.length;
  for (let tokens = 0; first > 0; first--) {
    const turn = turns[first - 1]!;
    tokens += estimateTokens({ system: "", exchanges: [turn] });
    const allowed = first === turns.length ? 2 * keptTokens : keptTokens;
    if (turn.turn.depth < since || tokens > allowed) break;
  }
  const older = turns.slice(0, first);
  return { older: compaction === undefined ? older : [compaction, ...older], kept: turns.slice(first) };
}

/** The work as it continues after the compaction. The same work: the run was aborted meanwhile. */
export async function compactThread(
  work: RunWork,
  { older, kept }: Split,
  how: Pick<SummaryWish, "context" | "room" | "request" | "isPatient">,
  { store, mintId, clock }: CompactPorts,
): Promise<RunWork> {
  const { claim, setup, profile } = work;
  const turn = mintId() as TurnId;
  await store.turns.beginCompaction(claim.lease, claim.run);
  const summary = await summarize(older, { ...how, turn, atMs: clock() });
  if (summary === undefined) return work;
  try {
    await store.turns.compact({
      lease: claim.lease,
      run: claim.run,
      turn,
      facts: turnFacts([summary], { role: setup.agent.role, profile: profile.name }),
      summary,
      firstKept: kept[0]?.turn.id,
    });
  } catch (error) {
    throw error instanceof CortexError && error.code === "turn_invalid" ? threadChanged(error) : error;
  }
  const thread = await readThread(turn, store);
  return { ...work, claim: { ...claim, parent: turn }, thread, history: historyOf(thread) };
}

/** The session was reset while its summary was written. */
function threadChanged(cause: CortexError): CortexError {
  return new CortexError("head_moved", "The head of the session has moved since its thread was read", {
    hint: "The turn is retried after the new head.",
    cause,
  });
}
