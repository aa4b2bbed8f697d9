/** How the work on a task has ended. The same work always ends in the same way, so that its end can be recorded again. */
import type { ItemId, RelayId } from "../../model/ids.ts";
import { readRelayResult } from "../../relay/record/summary.ts";
import { FLAG_TOOL } from "./tool-names.ts";
import type { Workplace } from "./workplace.ts";

export type WorkEnd = { readonly atMs: number } & (
  | { readonly kind: "done"; readonly summary: string }
  | { readonly kind: "flagged"; readonly reason: string }
  | { readonly kind: "failed"; readonly error: string }
);

/** From what the turn left in the ledger. Undefined: it is not over. */
export async function readTurnEnd(
  item: ItemId,
  { queue, turns }: Pick<Workplace["store"], "queue" | "turns">,
): Promise<WorkEnd | undefined> {
  const outcome = await queue.outcome(item);
  const atMs = outcome?.settledAtMs;
  if (outcome === undefined || atMs === undefined) return undefined;
  if (outcome.state === "dead") return { kind: "failed", error: outcome.error ?? "unknown", atMs };
  const content = outcome.turn === undefined ? undefined : await turns.read(outcome.turn);
  if (content === undefined)
    return { kind: "failed", error: `its message was dropped (${outcome.policy ?? "unknown"})`, atMs };
  const { turn, messages, toolCalls } = content;
  const flag = toolCalls.findLast(({ tool, status }) => tool === FLAG_TOOL && status === "ok");
  if (flag !== undefined) return { kind: "flagged", reason: reasonIn(flag.params), atMs };
  if (turn.status !== "completed") return { kind: "failed", error: "its turn was stopped", atMs };
  const answer = messages.findLast(({ role, content: text }) => role === "assistant" && text.trim() !== "");
  return { kind: "done", summary: answer?.content ?? "", atMs };
}

function reasonIn(params: unknown): string {
  const reason = typeof params === "object" && params !== null && "reason" in params ? params.reason : "";
  return typeof reason === "string" && reason.trim() !== "" ? reason.trim() : "no reason given";
}

/** Waits for a relay to end. Undefined: the signal came first. */
export async function waitForRelay(
  relay: RelayId,
  signal: AbortSignal,
  place: Pick<Workplace, "apis" | "home" | "clock" | "store">,
): Promise<WorkEnd | undefined> {
  const record = await place.apis.relays.ended(relay, signal);
  if (record === undefined) return undefined;
  const text = (await readRelayResult(relay, place))?.text ?? "";
  const atMs = record.endedAt === null ? place.clock() : Date.parse(record.endedAt);
  return record.status === "completed"
    ? { kind: "done", summary: text, atMs }
    : { kind: "failed", error: text, atMs };
}
