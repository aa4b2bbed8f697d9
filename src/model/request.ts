/** A request to a person: what it holds, and how it is shown for a decision. */
import type { Json } from "./json.ts";
import { lookalikes, reveal } from "./reveal.ts";
import { widthOf } from "./text-width.ts";

/** A file as it was when a person was asked. */
export interface FileDigest {
  readonly path: string;
  /** Null: it did not exist. */
  readonly sha256: string | null;
}

/** The message that led to a request. */
export interface Cause {
  readonly event: string;
  readonly sender: string | null;
  readonly channel: string;
  /** At most MAX_CAUSE_LENGTH characters. */
  readonly text: string;
}

export const MAX_CAUSE_LENGTH = 500;

/** As it was when the person was asked. Requests of earlier versions have only the first five. */
export interface Request {
  readonly question?: string;
  readonly options?: readonly string[];
  readonly tool?: string;
  readonly args?: Json;
  /** Why a person must agree. */
  readonly reason?: string;
  /** Why a call that was approved before is asked again. */
  readonly again?: string;
  readonly agent?: string;
  readonly workspace?: string;
  /** Who the work is for. */
  readonly principal?: string;
  /** Of the session. */
  readonly labels?: readonly string[];
  readonly causedBy?: Cause;
  /** Files that the call changes or runs: if one of them changes, the approval no longer holds. */
  readonly files?: readonly FileDigest[];
  /** What the call changes, or the code that it puts to use. */
  readonly diff?: string;
}

/** How much of a call and of its diff the server renders, each. `cortex approvals show` renders all of it. */
export const MAX_RENDERED_LENGTH = 16_000;

/** Terminals have 80 columns. */
export const REQUEST_WIDTH = 76;

interface Showing {
  readonly digest: string;
  /** How many characters of the call and of its diff are shown, each. Absent: all. */
  readonly max?: number;
  /** Says how to see all, if some was left out. */
  readonly seeAll?: string;
}

/** A call, or a question with its options. */
export function renderRequest(request: Request, showing: Showing): string {
  return request.question === undefined
    ? renderCall(request, showing)
    : [renderQuestion(request.question), ...renderOptions(request.options)].join("\n");
}

/** Its first line can stand beside ours; the others are marked. */
export function renderQuestion(question: string): string {
  return reveal(question, { lines: true }).replaceAll("\n", "\n  │ ");
}

export function renderOptions(options: readonly string[] = []): string[] {
  return options.map((option, at) => `${at + 1}. ${reveal(option)}`);
}

/**
 * A call with everything that a person must know to decide about it. Text from others is marked on every line: `│` where
 * a line of it begins, `┊` where it is only wrapped. So none of it can pass for a line of ours, and no two calls read
 * alike.
 */
export function renderCall(request: Request, { digest, max = Infinity, seeAll }: Showing): string {
  const {
    tool,
    args = null,
    reason,
    again,
    agent,
    workspace,
    principal,
    labels,
    causedBy,
    files = [],
    diff,
  } = request;
  const call = argumentLines(args, max);
  const changes = diff === undefined ? NOTHING : textLines("  ", diff, max);
  const left = call.left + changes.left;
  const where = workspace === undefined ? "" : ` in ${workspace}`;
  return [
    ...row("call", tool ?? "a tool"),
    ...call.lines,
    ...(diff === undefined ? [] : ["diff", ...changes.lines]),
    ...(left === 0 ? [] : row("left out", `${left} characters${seeAll === undefined ? "" : `: ${seeAll}`}`)),
    ...lookalikes(wordsIn(args)).flatMap((warning) => wrapped(named("beware"), MARGIN, warning)),
    ...(reason === undefined ? [] : row("why", reason)),
    ...(again === undefined ? [] : row("again", again)),
    ...(principal === undefined ? [] : row("for", principal)),
    ...(labels === undefined ? [] : row("labels", labels.length === 0 ? "none" : labels.join(", "))),
    ...(causedBy === undefined ? [] : causeLines(causedBy)),
    ...(agent === undefined ? [] : row("agent", `${agent}${where}`)),
    ...files.flatMap(({ path, sha256 }) =>
      row("file", path).concat(`${MARGIN}${sha256 ?? "does not exist"}`),
    ),
    ...row("digest", digest),
  ].join("\n");
}

/** Every name and text in a value. */
function wordsIn(value: Json): string {
  const words: string[] = [];
  JSON.stringify(value, (name, within: Json) => {
    words.push(name, typeof within === "string" ? within : "");
    return within;
  });
  return words.join("\n").slice(0, MAX_SEARCHED_LENGTH);
}

/** Words that look like others are searched in the beginning of a call. */
const MAX_SEARCHED_LENGTH = 64 * 1024;

function causeLines({ event, sender, channel, text }: Cause): string[] {
  const by = sender === null ? channel : `${sender} on ${channel}`;
  return [...row("message", `${by}, event ${event}`), ...textLines("  ", text, Infinity).lines];
}

/** The width of the names of our rows. */
const MARGIN = " ".repeat("left out".length + 2);

/** One of our own rows. */
function row(name: string, value: string): string[] {
  return wrapped(named(name), MARGIN, reveal(value));
}

function named(name: string): string {
  return name.padEnd(MARGIN.length);
}

interface Shown {
  readonly lines: readonly string[];
  /** The number of characters left out. */
  readonly left: number;
}

const NOTHING: Shown = { lines: [], left: 0 };

function argumentLines(args: Json, max: number): Shown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return valueLines("  ", args, max);
  const entries = Object.entries(args).map(([name, value]) => ({
    title: /^[\w.-]+$/.test(name) ? name : reveal(JSON.stringify(name)),
    value,
    length: (typeof value === "string" ? value : JSON.stringify(value)).length,
  }));
  const rooms = roomsFor(entries, max);
  const beside = entries.map(({ title }) => widthOf(title)).filter((width) => width <= MAX_NAME_BESIDE);
  const column = Math.max(0, ...beside);
  const lines: string[] = [];
  let left = 0;
  for (const [at, { title, value }] of entries.entries()) {
    const width = widthOf(title);
    const isBeside = width <= MAX_NAME_BESIDE;
    if (!isBeside) lines.push(...wrapped("  ", "  ", title));
    const head = isBeside ? `  ${title}${" ".repeat(column - width)} ` : "    ";
    const shown = valueLines(head, value, rooms[at]!);
    left += shown.left;
    lines.push(...shown.lines);
  }
  return { lines, left };
}

/** How many characters of each value are shown: short ones first, so that a path is never hidden behind a content. */
function roomsFor(values: readonly { readonly length: number }[], max: number): number[] {
  const rooms = values.map(() => 0);
  let room = max;
  for (const [at, { length }] of [...values.entries()].toSorted(([, a], [, b]) => a.length - b.length)) {
    rooms[at] = Math.min(length, room);
    room -= rooms[at];
  }
  return rooms;
}

/** A longer name stands above its value. */
const MAX_NAME_BESIDE = 16;

/** Texts have a bar and everything else an equals sign, so that "1" is not 1. */
function valueLines(head: string, value: Json, max: number): Shown {
  if (typeof value === "string") return textLines(head, value, max);
  const whole = JSON.stringify(value);
  const text = beginningOf(whole, max);
  const lines = wrapped(`${head}= `, " ".repeat(widthOf(head)), reveal(text));
  return { lines, left: whole.length - text.length };
}

function textLines(head: string, whole: string, max: number): Shown {
  const text = beginningOf(whole, max);
  const margin = " ".repeat(widthOf(head));
  const lines = reveal(text, { lines: true })
    .split("\n")
    .flatMap((line, at) => wrapped(`${at === 0 ? head : margin}│ `, margin, line));
  return { lines, left: whole.length - text.length };
}

/** Does not cut a character in two. */
function beginningOf(text: string, max: number): string {
  const isSplit = max < text.length && (text.codePointAt(max - 1) ?? 0) > 0xffff;
  return text.slice(0, isSplit ? max - 1 : max);
}

const TAB_WIDTH = 8;

/** Wraps a line ourselves: where a terminal did, the rest would begin at the margin, as our own rows do. */
function wrapped(head: string, margin: string, text: string): string[] {
  const rows: string[] = [];
  let line = head;
  let width = widthOf(head);
  for (const character of text) {
    const added = character === "\t" ? TAB_WIDTH : character <= "~" ? 1 : widthOf(character);
    if (width + added > REQUEST_WIDTH && added > 0) {
      rows.push(line);
      line = `${margin}┊ `;
      width = widthOf(line);
    }
    line += character;
    width += added;
  }
  return [...rows, line];
}
