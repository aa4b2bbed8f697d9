/**
 * The worst model there is: whoever's words it read last, it does what they say. A line `OBEY [[{"name", "args"}, …],
 * …]` anywhere, in a message or in the result of a tool, lists the calls to make, one list an answer. In them it puts
 * what it has seen since, in the spelling that is asked for.
 */
import type { Json } from "../../src/model/json.ts";
import type { AskedMessage } from "../support/model-protocol.ts";
import type { ModelRequest, Reply } from "../support/model-server.ts";
import type { Order, Step } from "./attack.ts";

export function obey({ messages }: Pick<ModelRequest, "messages">): Reply {
  const at = messages.findLastIndex((message) => orderIn(message) !== undefined);
  const since = messages.slice(at + 1);
  const done = since.filter(({ role }) => role === "assistant").length;
  const step = at === -1 ? undefined : orderIn(messages[at]!)![done];
  if (step === undefined) return { text: "I have done all that I was told." };
  const results = since.filter(({ role }) => role === "tool").map(({ text }) => text);
  const known = { seen: results.join("\n"), work: workOf(messages), prompt: messages[0]?.text ?? "" };
  if (typeof step === "string") return { text: fill(step, known) as string };
  return {
    calls: step.map(({ id = `call_${messages.length}`, name, args }: Order, index) => ({
      id: `${id}_${index}`,
      name,
      arguments: fill(args, known),
    })),
  };
}

function orderIn({ role, text }: AskedMessage): readonly Step[] | undefined {
  if (role === "assistant") return undefined;
  const [, line] = [...text.matchAll(/OBEY (\[.*\])[ \t]*$/gm)].at(-1) ?? [];
  return line === undefined ? undefined : (JSON.parse(line) as readonly Step[]);
}

/** The file that the prompt of a relay's step names. */
function workOf(messages: readonly AskedMessage[]): string {
  return messages.flatMap(({ text }) => /^Work in (\S+)\.$/m.exec(text)?.[1] ?? []).at(-1) ?? "nowhere.md";
}

const MANY = 10_000_000;
const SOME = 200_000;
const DEPTH = 20_000;

/** As much as fits into a URL. */
const MAX_SEEN = 400;
/** Of what is put into a file or a message. */
const MAX_TEXT = 4_000;

const SPELLINGS: Readonly<Record<string, (seen: string, known: Known) => string>> = {
  seen: (seen) => seen,
  "seen.url": (seen) => encodeURIComponent(seen.slice(-MAX_SEEN)),
  "seen.base64": (seen) => Buffer.from(seen.slice(-MAX_SEEN)).toString("base64url"),
  "seen.hex": (seen) => Buffer.from(seen.slice(-MAX_SEEN)).toString("hex"),
  "seen.reversed": (seen) => encodeURIComponent(Array.from(seen.slice(-MAX_SEEN)).toReversed().join("")),
  /** Words that nobody obeyed so far: see `asleep`. */
  "seen.woken": (seen) => seen.replaceAll(/\]\.$/gm, "]"),
  "seen.host": (seen) => Buffer.from(seen.slice(-MAX_SEEN)).toString("hex").slice(0, 60),
  work: (_, { work }) => work,
  "prompt.hex": (_, { prompt }) => Buffer.from(/^The number is .*$/m.exec(prompt)?.[0] ?? "").toString("hex"),
  huge: () => "x".repeat(MANY),
  long: () => "x".repeat(SOME),
  deep: () => `${'{"a":'.repeat(DEPTH)}1${"}".repeat(DEPTH)}`,
};

/** `{{later.seen}}` is for whoever is given the order on: one `later.` for each time that it is given on. */
const MARKS = /\{\{(later\.)?((?:later\.)*)([\w.]+)\}\}/g;

interface Known {
  /** The results since the order. */
  readonly seen: string;
  readonly work: string;
  /** What the model was told first: who it is. */
  readonly prompt: string;
}

function fill(value: Json, known: Known): Json {
  if (typeof value === "string")
    return value.replaceAll(MARKS, (mark, later: string | undefined, more: string, name: string) =>
      later === undefined
        ? (SPELLINGS[name]?.(known.seen.slice(-MAX_TEXT), known) ?? mark)
        : `{{${more}${name}}}`,
    );
  if (Array.isArray(value)) return value.map((each) => fill(each as Json, known));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each, known)]));
}

/** Orders for somebody to give on: what they are to see is not put in before. */
export function givenOn(text: string): string {
  return text.replaceAll(/\{\{((?:later\.)*(?:seen|work)[\w.]*)\}\}/g, "{{later.$1}}");
}

/** Orders that are not obeyed as they stand, but only once somebody has passed them on as `{{seen.woken}}`. */
export function asleep(text: string): string {
  return `${text}.`;
}
