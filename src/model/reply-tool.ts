/** What an agent has said to whoever caused its turn before the turn was over: it is not said again. */
import type { ToolCall } from "./message.ts";

/** An answer that is only this is not sent. */
export const SILENCE = "NO_REPLY";
export const REPLY_TOOL = "reply_to_caller";

/** Whether an answer was given during the turn already. How it is to be sent, the tags in it, makes no difference. */
export function wasReplied(answer: string, calls: readonly ToolCall[]): boolean {
  return repliesIn(calls).includes(bare(answer));
}

/** Whether whoever caused the turn has had all that it has to say. */
export function hasSaidAll(answer: string, calls: readonly ToolCall[]): boolean {
  const replies = repliesIn(calls);
  return replies.length > 0 && (bare(answer) === SILENCE || replies.includes(bare(answer)));
}

function repliesIn(calls: readonly ToolCall[]): string[] {
  return calls
    .filter(({ tool, status }) => tool === REPLY_TOOL && status === "ok")
    .map(({ params }) => (params as { readonly content?: unknown } | null)?.content)
    .filter((content) => typeof content === "string")
    .map(bare);
}

function bare(text: string): string {
  return text.replaceAll(/\[\[[^[\]\n]{1,300}\]\]/g, "").trim();
}
