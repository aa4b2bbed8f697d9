/** Turns as text of a limited length: for a model that is to sum them up, and for when none can. */
import { callsOf, type Message } from "../model/message.ts";
import type { ToolResult } from "../model/tool.ts";
import type { TurnContent } from "../store/store.ts";

const MAX_MESSAGE_LENGTH = 4_000;
const MAX_RESULT_LENGTH = 1_000;
const MAX_ARGUMENTS_LENGTH = 300;
export const MAX_QUERY_LENGTH = 100;
export const MAX_ANSWER_LENGTH = 200;
/** How much of a transcript is for the newer turns, which are told in full. */
const SHARE_IN_FULL = 0.6;
const SHARE_OF_SUMMARY = 0.25;

/** The newer turns as they were said, those before them as one line each, and as many as fit. */
export function transcript(turns: readonly TurnContent[], maxLength: number): string {
  const { summary, normal } = sorted(turns, maxLength);
  const inFull = newestThatFit(normal, describeTurn, maxLength * SHARE_IN_FULL);
  const rest = normal.slice(0, normal.length - inFull.length);
  return [summary, outlineOf(rest, maxLength * (1 - SHARE_IN_FULL - SHARE_OF_SUMMARY)), ...inFull]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** One line a turn: what was asked, and what was answered. */
export function outline(turns: readonly TurnContent[], maxLength: number): string {
  const { summary, normal } = sorted(turns, maxLength);
  return [summary, outlineOf(normal, maxLength * (1 - SHARE_OF_SUMMARY))]
    .filter((part) => part !== "")
    .join("\n");
}

/** What was summed up before comes first, and must not be lost. */
function sorted(turns: readonly TurnContent[], maxLength: number) {
  const [first] = turns;
  if (first?.turn.type !== "compaction") return { summary: "", normal: turns };
  const summary = first.messages.map(({ content }) => content).join("\n");
  return { summary: shorten(summary, maxLength * SHARE_OF_SUMMARY), normal: turns.slice(1) };
}

function outlineOf(turns: readonly TurnContent[], maxLength: number): string {
  const lines = newestThatFit(turns, describeInOneLine, maxLength);
  const missing = turns.length - lines.length;
  if (missing > 0) lines.unshift(`(${missing} older turns are left out here.)`);
  return lines.join("\n");
}

function newestThatFit(
  turns: readonly TurnContent[],
  describe: (turn: TurnContent) => string,
  maxLength: number,
): string[] {
  const texts: string[] = [];
  let length = 0;
  for (const turn of turns.toReversed()) {
    const text = describe(turn);
    length += text.length + 2;
    if (length > maxLength) break;
    texts.unshift(text);
  }
  return texts;
}

function describeInOneLine({ messages }: TurnContent): string {
  const query = messages.find(({ role }) => role === "user")?.content ?? "";
  const answer = messages.findLast(({ role }) => role === "assistant")?.content ?? "";
  return `- ${shorten(flat(query), MAX_QUERY_LENGTH)} → ${shorten(flat(answer), MAX_ANSWER_LENGTH)}`;
}

function describeTurn({ messages, toolCalls }: TurnContent): string {
  let ordinal = 0;
  const describeMessage = (message: Message): string[] => {
    const speaker = message.role === "assistant" ? "Assistant" : "User";
    const said =
      message.content === "" ? [] : [`${speaker}: ${shorten(message.content, MAX_MESSAGE_LENGTH)}`];
    const calls = callsOf(message).map(({ name, arguments: args }) => {
      const result = toolCalls.find((call) => call.ordinal === ordinal)?.result as ToolResult | undefined;
      ordinal++;
      const call = `${name} ${shorten(JSON.stringify(args), MAX_ARGUMENTS_LENGTH)}`;
      return `Tool: ${call} → ${shorten(result?.text ?? "no result", MAX_RESULT_LENGTH)}`;
    });
    return [...said, ...calls];
  };
  return messages.flatMap(describeMessage).join("\n");
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, Math.max(0, maxLength)).toWellFormed()}…`;
}
