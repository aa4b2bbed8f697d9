/**
 * Answers of the offline model without a script. `/tool` lines are run and their results quoted; anything else is answered
 * with quotes from the conversation and the ledger.
 */
import type { Message, ToolCall } from "../../model/message.ts";
import type { Exchange } from "../agent.ts";
import { storedResult } from "../loop.ts";
import { truncate } from "../../model/truncate.ts";
import { readToolLines, type WantedCall } from "./tool-lines.ts";

/** Finds events and turns by their text, best match first. */
export type LedgerSearch = (
  text: string,
  limit: number,
) => Promise<readonly { readonly id: string; readonly text: string; readonly atMs: number }[]>;

interface Answer {
  readonly text: string;
  readonly calls: readonly WantedCall[];
}

/** Ends every unscripted answer, so that it is not mistaken for a real model's. */
export const NOTICE =
  "_This is the offline model. For a real one, set an API key such as `ANTHROPIC_API_KEY` or add a profile to " +
  "`config/profiles.json`._";

export const MAX_QUOTE_LENGTH = 600;
export const MAX_RESULTS_QUOTED = 10;
export const MAX_HITS_CITED = 3;
/** More than are cited, because the ledger also contains the question and our own answers. */
const MAX_HITS_SEARCHED = 12;
const MAX_SEARCH_LENGTH = 500;
const MAX_HIT_LENGTH = 200;
const MAX_ARGUMENTS_LENGTH = 80;
const PREVIOUS_SHOWN = 3;

const HELP =
  "I can quote this conversation, search the ledger, and run tools: write `/tool Name {json}` on a line of its own.";
const GREETING =
  /^(hello|hi|hey|hallo|moin|servus|bonjour|hola|good (morning|afternoon|evening|day)|guten (morgen|tag|abend))\b/iu;
const ABOUT_BEFORE = /\b(ask|asked|say|said|tell|told|before|earlier|last|previous|previously|remember)\b/i;

export async function answerUnscripted(
  exchanges: readonly Exchange[],
  search: LedgerSearch,
): Promise<Answer> {
  const current = exchanges.at(-1) ?? { messages: [], toolCalls: [] };
  const newestAt = current.messages.findLastIndex(({ role }) => role === "user");
  const words = current.messages[newestAt]?.content ?? "";
  const hasActed = current.messages.slice(newestAt + 1).some(({ role }) => role === "assistant");
  if (hasActed) return answer([describeResults(current.toolCalls)]);

  const { calls, problems } = readToolLines(words);
  if (problems.length > 0) return answer(["Nothing was run.", list(problems)]);
  if (calls.length > 0) return { text: "", calls };

  const earlier = exchanges.slice(0, -1).flatMap(({ messages }) => messages);
  earlier.push(...current.messages.slice(0, Math.max(newestAt, 0)));
  // A message that arrived while tools were running must not hide their results.
  const results = current.toolCalls.length > 0 ? [describeResults(current.toolCalls)] : [];
  return answer([...results, ...(await reply(words, earlier.filter(isOthers), search))]);
}

/** The results of the calls of a turn, each quoted. */
export function describeResults(toolCalls: readonly ToolCall[]): string {
  const inOrder = toolCalls.toSorted((a, b) => a.ordinal - b.ordinal);
  const parts = inOrder.slice(0, MAX_RESULTS_QUOTED).map(describeCall);
  const more = inOrder.length - parts.length;
  if (more > 0) parts.push(`And ${more} more.`);
  return parts.length === 0 ? "Nothing was run." : parts.join("\n\n");
}

function answer(parts: readonly string[]): Answer {
  return { text: [...parts, NOTICE].join("\n\n"), calls: [] };
}

async function reply(words: string, earlier: readonly Message[], search: LedgerSearch): Promise<string[]> {
  const about = keywords(words);
  if (isGreeting(words)) return [`Hello! ${HELP}`];
  if (about.size === 0) return [ABOUT_BEFORE.test(words) ? describePrevious(earlier) : HELP];
  const texts = earlier.map((message) => ({ message, text: message.content }));
  const recalled = bestMatch(about, texts)?.message;
  const found = await describeHits({ words, recalled: recalled?.content, search });
  const parts =
    recalled === undefined ? [] : [`${speaker(recalled)} said earlier:\n\n${quote(recalled.content)}`];
  if (found !== undefined) parts.push(found);
  return parts.length > 0 ? parts : ["I found nothing about that in this conversation or in the ledger."];
}

/** A greeting, followed by a name at most. */
function isGreeting(words: string): boolean {
  const rest = words.trim().replace(GREETING, "");
  return rest !== words.trim() && keywords(rest).size <= 1;
}

function describePrevious(earlier: readonly Message[]): string {
  const asked = earlier.filter(({ role }) => role === "user").slice(-PREVIOUS_SHOWN);
  if (asked.length === 0) return "This is the first message of this conversation that I can see.";
  return `You said before:\n\n${asked.map(({ content }) => quote(content)).join("\n\n")}`;
}

async function describeHits(about: {
  readonly words: string;
  readonly recalled: string | undefined;
  readonly search: LedgerSearch;
}): Promise<string | undefined> {
  const hits = await about.search(about.words.slice(0, MAX_SEARCH_LENGTH).toWellFormed(), MAX_HITS_SEARCHED);
  const known = new Set([about.words.trim(), about.recalled?.trim()]);
  const news = hits.filter(({ text }) => !known.has(text.trim()) && !text.includes(NOTICE));
  if (news.length === 0) return undefined;
  const lines = news.slice(0, MAX_HITS_CITED).map(({ id, text, atMs }) => {
    return `\`${id}\`, ${day(atMs)}: ${truncate(text.replaceAll(/\s+/g, " ").trim(), MAX_HIT_LENGTH)}`;
  });
  return `From the ledger:\n\n${list(lines)}`;
}

function describeCall(toolCall: ToolCall): string {
  const { tool, params, status } = toolCall;
  const { text = "", isError = false } = storedResult(toolCall) ?? {};
  const call = `\`${tool} ${truncate(JSON.stringify(params), MAX_ARGUMENTS_LENGTH).replaceAll("`", "'")}\``;
  const outcome = status !== "ok" ? ` (${status})` : isError ? " (error)" : "";
  return text.trim() === "" ? `${call}${outcome} returned nothing.` : `${call}${outcome}:\n\n${quote(text)}`;
}

/** Our own answers only repeat what others said. */
function isOthers(message: Message): boolean {
  return message.content.trim() !== "" && !message.content.includes(NOTICE);
}

function speaker({ role }: Message): string {
  switch (role) {
    case "user":
      return "You";
    case "assistant":
      return "The assistant";
    case "tool":
      return "A tool";
    case "system":
      return "The system";
  }
}

function quote(text: string): string {
  return truncate(text.trim(), MAX_QUOTE_LENGTH).replaceAll(/^/gm, "> ");
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

/** A day in UTC: the answer must not depend on where it is given. */
function day(atMs: number): string {
  const at = new Date(atMs);
  return Number.isNaN(at.getTime()) ? "undated" : at.toISOString().slice(0, 10);
}

/** How much of a text is compared. */
export const MAX_READ_LENGTH = 20_000;

/** Words that do not tell the topic of a message. */
const EMPTY_WORDS = new Set(
  (
    "a about all am an and any are as asked at be been before but by can could did do does earlier ever for from had " +
    "has have he her him his how i if in into is it its just know last let me my no not of on or our please " +
    "previous previously recall remember said saw say she should so some tell than that the their them then there " +
    "these they this those to told up us was we were what when where which who whom whose why will with would yes " +
    "yet you your ask"
  ).split(" "),
);

/** The distinct topic words of a text, in the singular. */
export function keywords(text: string): ReadonlySet<string> {
  const words =
    text
      .slice(0, MAX_READ_LENGTH)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => !EMPTY_WORDS.has(word)).map(singular));
}

/**
 * The text that shares the most words with the question, and at least half. Statements come before questions, which answer
 * nothing, and newer texts before older ones.
 */
export function bestMatch<T extends { readonly text: string }>(
  question: ReadonlySet<string>,
  oldestFirst: readonly T[],
): T | undefined {
  let best: { readonly item: T; readonly score: number } | undefined;
  for (const item of oldestFirst) {
    const shared = countShared(question, keywords(item.text));
    if (shared === 0 || shared * 2 < question.size) continue;
    const score = item.text.trimEnd().endsWith("?") ? shared - question.size : shared;
    if (best === undefined || score >= best.score) best = { item, score };
  }
  return best?.item;
}

function countShared(question: ReadonlySet<string>, words: ReadonlySet<string>): number {
  return [...question].filter((word) => words.has(word)).length;
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
