/** How the work on a task has ended, from what its turn left in the ledger. */
import type { ItemId } from "../../model/ids.ts";
import type { Store } from "../../store/store.ts";
import { FLAG_TOOL } from "./tool-names.ts";

export type WorkEnd = { readonly atMs: number } & (
  | { readonly kind: "done"; readonly summary: string }
  | { readonly kind: "flagged"; readonly reason: string }
  | { readonly kind: "failed"; readonly error: string }
);

/** Undefined: it is not over. The same message always gives the same end, so that it can be recorded again. */
export async function readTurnEnd(
  item: ItemId,
  { queue, turns }: Pick<Store, "queue" | "turns">,
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
  const { reason } = (params ?? {}) as { readonly reason?: unknown };
  return typeof reason === "string" && reason.trim() !== "" ? reason.trim() : "no reason given";
}
