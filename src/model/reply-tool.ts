/** Replies that an agent sends to its caller before its turn ends. They are not repeated in the answer. */
import type { Message, ToolCall } from "./message.ts";

/** An answer that is only this is not sent. */
export const SILENCE = "NO_REPLY";
export const REPLY_TOOL = "reply_to_caller";

/** Whether the answer was already sent as a reply. Delivery tags in it make no difference. */
export function wasReplied(answer: string, calls: readonly ToolCall[]): boolean {
  return repliesIn(calls).includes(bare(answer));
}

/** Whether the replies already said everything, so that the answer adds nothing. */
export function hasSaidAll(answer: string, calls: readonly ToolCall[]): boolean {
  const replies = repliesIn(calls);
  return replies.length > 0 && (bare(answer) === SILENCE || replies.includes(bare(answer)));
}

/** The replies on the way, then the answer unless it was one of them. */
export function saidInAll(answer: string, calls: readonly ToolCall[]): string {
  const isMore = bare(answer) !== SILENCE && !wasReplied(answer, calls);
  return [...callsOfReply(calls).map(replyOf), ...(isMore ? [answer] : [])].join("\n\n");
}

/** The whole answer of a turn: the replies on the way, then the last assistant message. */
export function answerText({
  messages,
  toolCalls,
}: {
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCall[];
}): string {
  return saidInAll(messages.findLast(({ role }) => role === "assistant")?.content ?? "", toolCalls);
}

function repliesIn(calls: readonly ToolCall[]): string[] {
  return callsOfReply(calls).map((call) => bare(replyOf(call)));
}

function callsOfReply(calls: readonly ToolCall[]): ToolCall[] {
  return calls.filter((call) => call.tool === REPLY_TOOL && call.status === "ok" && replyOf(call) !== "");
}

function replyOf({ params }: Pick<ToolCall, "params">): string {
  const content = (params as { readonly content?: unknown } | null)?.content;
  return typeof content === "string" ? content.trim() : "";
}

function bare(text: string): string {
  return text.replaceAll(/\[\[[^[\]\n]{1,300}\]\]/g, "").trim();
}
