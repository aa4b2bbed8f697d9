/**
 * Whether a call tells the outside something that its model has chosen under the influence of others. The rule of two
 * asks about outward calls because the author of text that a model has read can have it send private data. That takes a
 * model that chooses what is sent after it has read both. It did not choose
 *
 * - what it said before it read them: calls that were requested together were all chosen before the first was made;
 * - an address in a message of the owner, character by character, once a turn;
 * - a query made only of words that the owner has written, each used no more often than they used it, as the only one of
 *   its turn;
 * - an address that the owner's search service has named as a result, once: the service has chosen it, for a query that
 *   others had no say in. Links in the text of pages do not count: their author may offer one for each letter and have
 *   the model spell.
 *
 * What is left to choose is which of these calls to make, and in which order: without a limit on how often, that would
 * spell anything. What it still tells goes to places that the owner or their service has named.
 */
import { isByAgent } from "../model/event.ts";
import { canonicalJson } from "../model/json.ts";
import { type CallBlock, callsOf, type Message, type ToolCall } from "../model/message.ts";
import { isOwner } from "../model/principal.ts";
import type { Said, Tool, ToolResult } from "../model/tool.ts";
import { canonicalToolName, canonicalToolParams } from "../model/tool-aliases.ts";
import type { Trust } from "../model/trust.ts";
import type { QueueItem } from "../store/store.ts";

/** How far back the owner's messages count, in turns. */
export const MAX_TURNS_HEARD = 10;

/** What may be repeated to the outside: messages of the owner, newest last, and what calls have brought. */
export interface Heard {
  readonly messages: readonly string[];
  /** The calls of earlier turns. */
  readonly before: readonly ToolCall[];
  /** The calls of this turn so far. */
  readonly calls: readonly ToolCall[];
  readonly tools: ReadonlyMap<string, Pick<Tool, "says">>;
}

export function hasBeenHeard(said: Said, { messages, before, calls, tools }: Heard): boolean {
  switch (said.kind) {
    case "text":
      return false;
    case "query":
      return !calls.some((call) => saidBy(call, tools)?.kind === "query") && isMadeOf(said.text, messages);
    case "address": {
      const href = hrefOf(said.url);
      const isAskedFor = (call: ToolCall): boolean => {
        const earlier = saidBy(call, tools);
        return earlier?.kind === "address" && hrefOf(earlier.url) === href;
      };
      if (href === undefined || calls.some(isAskedFor)) return false;
      if (messages.some((message) => addressesIn(message).includes(href))) return true;
      const isNamed = [...before, ...calls].some(
        (call) => saidBy(call, tools)?.kind === "query" && leadsOf(call).includes(href),
      );
      return isNamed && !before.some(isAskedFor);
    }
  }
}

/** The words of the owner among messages. What was quoted by a program of theirs is not their word. */
export function wordsOfOwner(items: readonly Pick<QueueItem, "event">[]): string[] {
  return items.flatMap(({ event }) =>
    isOwner(event.principal) && event.label === undefined && event.content !== null && !isByAgent(event)
      ? [event.content]
      : [],
  );
}

/**
 * The label that a session had when the model requested a call: before any of the calls was made that it requested
 * together with it. It is known only to the run that has seen all of them; to any other, what the session holds by then
 * counts.
 */
export class LabelAtChoice {
  #answer: { readonly message: Message; readonly trust: Trust } | undefined;

  /** To be called before each call is made, with the label at that time. */
  of(call: CallBlock, messages: readonly Message[], now: Trust): Trust {
    const message = messages.findLast(({ role }) => role === "assistant");
    // An agent in a process of its own may tell us of calls that it did not announce, or announced otherwise.
    if (message === undefined || !callsOf(message).some((each) => isSameCall(each, call))) return now;
    if (this.#answer?.message.id !== message.id) this.#answer = { message, trust: now };
    return this.#answer.trust;
  }
}

function isSameCall(one: CallBlock, other: CallBlock): boolean {
  return (
    one.id === other.id &&
    one.name === other.name &&
    canonicalJson(one.arguments) === canonicalJson(other.arguments)
  );
}

/** Word by word as they are written, because dots, capitals and spaces could spell something, too. */
function isMadeOf(query: string, messages: readonly string[]): boolean {
  if (messages.some((message) => isPhraseOf(query, message))) return true;
  const left = new Map<string, string[]>();
  for (const word of messages.flatMap(wordsIn)) {
    const key = word.toLowerCase();
    left.set(key, [...(left.get(key) ?? []), word]);
  }
  return query.split(" ").every((word) => {
    const written = left.get(word.toLowerCase())?.pop();
    return written !== undefined && (word === written || word === word.toLowerCase());
  });
}

const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });

/** Whole words in a row, also in languages without spaces between them. */
function isPhraseOf(query: string, message: string): boolean {
  const parts = WORDS.segment(message);
  const isEdge = (at: number): boolean => at === message.length || parts.containing(at)?.index === at;
  for (let at = message.indexOf(query); at !== -1; at = message.indexOf(query, at + 1))
    if (isEdge(at) && isEdge(at + query.length)) return true;
  return false;
}

/** What stands between spaces and quotes, without the marks of the sentence around it. Never only the beginning of one. */
function wordsIn(text: string): string[] {
  return [...text.matchAll(/[^\s<>"'`]+/g)]
    .map(([written]) => written.replace(/^[([{]+/, "").replace(/[.,;:!?…)\]}]+$/, ""))
    .filter((word) => word !== "");
}

function saidBy({ tool, params }: ToolCall, tools: Heard["tools"]): Said | undefined {
  return tools.get(canonicalToolName(tool))?.says?.(canonicalToolParams(tool, params));
}

function leadsOf({ status, result }: ToolCall): readonly (string | undefined)[] {
  return status === "ok" ? ((result as ToolResult | undefined)?.leads ?? []).map(hrefOf) : [];
}

/** Without `https://`, only what cannot be the name of a file: `notes.md` and `build.sh` would be addresses, too. */
function addressesIn(text: string): readonly (string | undefined)[] {
  return wordsIn(text).map((word) => {
    if (/^https?:\/\//i.test(word)) return hrefOf(word);
    return /^(?:www(?:\.[\w-]+)+$|[\w-]+(?:\.[\w-]+)+[/?])/i.test(word)
      ? hrefOf(`https://${word}`)
      : undefined;
  });
}

/** As it is asked for: what follows `#` is not sent. */
function hrefOf(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null) return undefined;
  url.hash = "";
  return url.href;
}
