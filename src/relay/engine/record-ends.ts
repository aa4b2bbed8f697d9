/** Records ended steps: their answers, their costs, and the artifact at that time. */
import { keepArtifact, readArtifact, workspaceOf } from "../artifact/artifact.ts";
import { conclude, type MoveDraft, type ArtifactState } from "./draft.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { keepChanges } from "./step-files.ts";
import type { Abort } from "../record/abort-marker.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import { recordStep, stepName, type StepOutcome } from "../record/record-step.ts";
import type { RelayRecord, RelayStep } from "../record/record.ts";
import { isJsonObject, type Json } from "../../model/json.ts";
import { MAX_PAGE, type Store, type StoredRelayStep, type StoredTurn } from "../../store/store.ts";

/** A failed step fails the relay, unless a script inserted it. */
export async function recordEnds(
  draft: MoveDraft,
  relay: Pick<KeptRelay, "rows" | "detail" | "content">,
  ports: Pick<EnginePorts, "store" | "home" | "settings" | "clock">,
): Promise<void> {
  const { store, home, clock } = ports;
  for (const row of relay.rows) {
    const step = draft.record.steps[row.step];
    if (row.state !== "ended" || step?.status !== "running") continue;
    const { abort, ...end } = await readStepEnd(row, store);
    const isOneOfSeveral = step.kind === "agent" && draft.record.active.length > 1; // their sections are merged later
    draft.artifact = isOneOfSeveral ? undefined : await keepNow(draft.record, home);
    const artifactHash = draft.artifact?.hash ?? null;
    await keepChanges({ ...relay, record: draft.record }, row.step, ports);
    draft.record = recordStep(draft.record, row.step, { ...end, artifactHash }, clock());
    if (!isLeftBehind(step, draft)) draft.abort ??= abort;
    if (end.status === "failed" && step.kind === "agent" && !isLeftBehind(step, draft)) {
      const error = `${stepName(step)}: ${end.error ?? "failed"}`;
      conclude(draft, { stopReason: "failed", error }, clock());
    }
  }
}

/** Whether another agent was added while the step waited for an answer. */
function isLeftBehind({ kind, leg }: RelayStep, { record }: MoveDraft): boolean {
  return kind === "agent" && leg !== record.leg;
}

const NONE: ArtifactState = { text: undefined, hash: null };

/** Stores a copy of the current artifact. */
export async function keepNow(
  { id, workspacePath }: Pick<RelayRecord, "id" | "workspacePath">,
  home: string,
): Promise<ArtifactState> {
  if (workspacePath === "") return NONE;
  const read = await readArtifact(workspaceOf(home, id));
  return read.kind === "read" ? { text: read.text, hash: await keepArtifact(home, read.text) } : NONE;
}

/** The tool with which an agent aborts the whole relay. */
export const ABORT_TOOL = "relay_abort";

interface StepEnd extends Omit<StepOutcome, "artifactHash"> {
  /** Requested with the tool. */
  readonly abort?: Abort;
}

/** The relay stores this much of an answer; the turn contains all of it. */
export const MAX_OUTPUT_LENGTH = 128 * 1024;

const NOTHING = { output: null, costUsd: null, numTurns: null, turn: null } as const;

export async function readStepEnd(
  { item }: Pick<StoredRelayStep, "item">,
  store: Pick<Store, "queue" | "turns" | "delegations">,
): Promise<StepEnd> {
  const { queue, turns } = store;
  const outcome = item === undefined ? undefined : await queue.outcome(item);
  if (outcome?.state === "dead") {
    const { turn = null, error = "Its turn failed" } = outcome;
    return { ...NOTHING, status: "failed", turn, error };
  }
  const content = outcome?.turn === undefined ? undefined : await turns.read(outcome.turn);
  if (content === undefined) {
    return {
      ...NOTHING,
      status: "failed",
      error: `Its message was dropped: ${outcome?.policy ?? "unknown"}`,
    };
  }
  const { turn, messages, toolCalls } = content;
  const answers = messages.filter(({ role }) => role === "assistant");
  const asked = toolCalls.find(({ tool, status }) => tool === ABORT_TOOL && status === "ok");
  const isDone = turn.status === "completed";
  return {
    status: isDone ? "completed" : "failed",
    output: cut(answers.at(-1)?.content) ?? null,
    costUsd: await costOf(turn, store),
    numTurns: answers.length,
    turn: turn.id,
    ...(isDone ? {} : { error: "Its turn was aborted" }),
    ...(asked === undefined ? {} : { abort: { reason: reasonIn(asked.params) } }),
  };
}

/** How deep nested workers are followed: deeper than any can be opened. */
const MAX_DEPTH = 10;

/** Includes the cost of its workers, recursively. Null: no price is known. */
async function costOf(
  { id, session, facts }: StoredTurn,
  store: Pick<Store, "turns" | "delegations">,
  depth = 0,
): Promise<number | null> {
  if (depth >= MAX_DEPTH) return facts.costUsd;
  const { items } = await store.delegations.list({ caller: session, limit: MAX_PAGE });
  let costUsd = facts.costUsd;
  for (const given of items) {
    if (given.callerTurn !== id || given.turn === undefined) continue;
    const turn = await store.turns.get(given.turn);
    const cost = turn === undefined ? null : await costOf(turn, store, depth + 1);
    if (cost !== null) costUsd = (costUsd ?? 0) + cost;
  }
  return costUsd;
}

function cut(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= MAX_OUTPUT_LENGTH) return text;
  return `${text.slice(0, MAX_OUTPUT_LENGTH).toWellFormed()}\n[…]`;
}

function reasonIn(params: Json): string | null {
  const reason = isJsonObject(params) ? params["reason"] : undefined;
  return typeof reason === "string" && reason.trim() !== "" ? reason.trim() : null;
}
