/**
 * What the offline model says without a script. It does what `/tool` lines ask for and tells what came of
 * it; anything else is answered with what was said before and what the ledger holds, word for word.
 */
import type { Message, ToolCall } from "../../model/message.ts";
import type { ToolResult } from "../../model/tool.ts";
import type { Exchange } from "../agent.ts";
import type { WantedCall } from "./draft.ts";
import { bestMatch, keywords } from "./recall.ts";
import { shorten } from "./shorten.ts";
import { readToolLines } from "./tool-lines.ts";

/** Finds events and turns by their text, best first. */
export type LedgerSearch = (
  text: string,
  limit: number,
) => Promise<readonly { readonly id: string; readonly text: string; readonly atMs: number }[]>;

interface Said {
  readonly text: string;
  readonly calls: readonly WantedCall[];
}

/** Ends every answer that no script wrote, so that nobody takes it for a real model's. */
export const NOTICE =
  "_This is the offline model. For a real one, set an API key such as `ANTHROPIC_API_KEY` or add a profile to " +
  "`config/profiles.json`._";

export const MAX_QUOTE_LENGTH = 600;
export const MAX_RESULTS_QUOTED = 10;
export const MAX_HITS_CITED = 3;
/** More than are cited, because the ledger also holds the question and our own answers. */
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

export async function converse(exchanges: readonly Exchange[], search: LedgerSearch): Promise<Said> {
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
  // A message that arrived while tools were running must not hide what they did.
  const results = current.toolCalls.length > 0 ? [describeResults(current.toolCalls)] : [];
  return answer([...results, ...(await reply(words, earlier.filter(isOthers), search))]);
}

/** What came of the calls of a turn, each quoted. */
export function describeResults(toolCalls: readonly ToolCall[]): string {
  const inOrder = toolCalls.toSorted((a, b) => a.ordinal - b.ordinal);
  const parts = inOrder.slice(0, MAX_RESULTS_QUOTED).map(describeCall);
  const more = inOrder.length - parts.length;
  if (more > 0) parts.push(`And ${more} more.`);
  return parts.length === 0 ? "Nothing was run." : parts.join("\n\n");
}

function answer(parts: readonly string[]): Said {
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

/** A greeting, and at most somebody's name after it. */
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
    return `\`${id}\`, ${day(atMs)}: ${shorten(text.replaceAll(/\s+/g, " ").trim(), MAX_HIT_LENGTH)}`;
  });
  return `From the ledger:\n\n${list(lines)}`;
}

function describeCall({ tool, params, status, result }: ToolCall): string {
  const { text = "", isError = false } = (result ?? {}) as Partial<ToolResult>;
  const call = `\`${tool} ${shorten(JSON.stringify(params), MAX_ARGUMENTS_LENGTH).replaceAll("`", "'")}\``;
  const outcome = status !== "ok" ? ` (${status})` : isError ? " (error)" : "";
  return text.trim() === "" ? `${call}${outcome} gave nothing back.` : `${call}${outcome}:\n\n${quote(text)}`;
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
  return shorten(text.trim(), MAX_QUOTE_LENGTH).replaceAll(/^/gm, "> ");
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

/** A day in UTC: the answer must not depend on where it is given. */
function day(atMs: number): string {
  const at = new Date(atMs);
  return Number.isNaN(at.getTime()) ? "undated" : at.toISOString().slice(0, 10);
}
