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

/** All that a turn has to say to whoever waits for its end: its replies on the way, then its answer if there is more. */
export function saidInAll(answer: string, calls: readonly ToolCall[]): string {
  const isMore = bare(answer) !== SILENCE && !wasReplied(answer, calls);
  return [...callsOfReply(calls).map(replyOf), ...(isMore ? [answer] : [])].join("\n\n");
}

function repliesIn(calls: readonly ToolCall[]): string[] {
  return callsOfReply(calls).map((call) => bare(replyOf(call)));
}

function callsOfReply(calls: readonly ToolCall[]): ToolCall[] {
  return calls.filter((call) => call.tool === REPLY_TOOL && call.status === "ok" && replyOf(call) !== "");
}

/** What a call of the tool says. */
function replyOf({ params }: Pick<ToolCall, "params">): string {
  const content = (params as { readonly content?: unknown } | null)?.content;
  return typeof content === "string" ? content.trim() : "";
}

function bare(text: string): string {
  return text.replaceAll(/\[\[[^[\]\n]{1,300}\]\]/g, "").trim();
}
