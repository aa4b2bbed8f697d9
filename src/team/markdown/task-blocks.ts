/**
 * The exact positions of the tasks in a file, for reading and editing.
 *
 * A task is a heading of the second level with a status line among the lines right below it; other headings are prose. Its
 * block extends to the next such heading.
 */
import {
  type Heading,
  isBlank,
  type TextLine,
  lineAt,
  type Outline,
  outlineOf,
  type TickMark,
} from "./outline.ts";
import type { TaskRef } from "./task.ts";

const METADATA = ["Status", "Started", "Completed", "Template", "External"] as const;
export type MetadataName = (typeof METADATA)[number];

/** A line `**Status:** ready`. */
export interface MetadataLine extends TextLine {
  readonly name: MetadataName;
  readonly value: string;
  /** Offset of the value. */
  readonly valueStart: number;
}

export interface TaskBlock extends TaskRef {
  readonly heading: Heading;
  /** The first line of each name, in file order. */
  readonly metadata: readonly MetadataLine[];
  readonly status: MetadataLine;
  /** Further lines with a name that has occurred. */
  readonly doubled: readonly MetadataLine[];
  /** Offset of the first line below the metadata. */
  readonly bodyStart: number;
  /** Offset of the next heading of the second level, or of the end. */
  readonly end: number;
  /** Headings of the third level. */
  readonly sections: readonly Heading[];
  /** Tick comments inside the block, with any prefix. */
  readonly ticks: readonly TickMark[];
}

/** The prefix of our tick comments. */
export const TICK_PREFIX = "cortex";

export interface TaskBlocks {
  readonly outline: Outline;
  readonly tasks: readonly TaskBlock[];
  /** Headings of the second level without a status. */
  readonly prose: readonly Heading[];
}

/** All tasks, or only those with given titles: editing one task need not parse ten thousand. */
export function blocksOf(text: string, titles?: ReadonlySet<string>): TaskBlocks {
  const outline = outlineOf(text);
  const tasks: TaskBlock[] = [];
  const prose: Heading[] = [];
  const ordinals = new Map<string, number>();
  const { headings, ticks } = outline;
  let tick = 0;
  for (let at = 0; at < headings.length;) {
    const heading = headings[at++];
    if (heading?.level !== 2 || titles?.has(heading.title) === false) continue;
    const { title } = heading;
    const first = at;
    while ((headings[at]?.level ?? 2) !== 2) at++;
    const end = headings[at]?.start ?? text.length;
    while ((ticks[tick]?.start ?? Infinity) < heading.start) tick++;
    const firstTick = tick;
    while ((ticks[tick]?.start ?? Infinity) < end) tick++;
    const within = firstTick === tick ? NO_TICKS : ticks.slice(firstTick, tick);
    const below = metadataBelow(text, { heading, end, ticks: within });
    const status = metadataOf(below, "Status");
    if (status === undefined) {
      prose.push(heading);
      continue;
    }
    const ordinal = (ordinals.get(title) ?? 0) + 1;
    ordinals.set(title, ordinal);
    tasks.push({
      title,
      ordinal,
      started: metadataOf(below, "Started")?.value,
      heading,
      metadata: below.metadata,
      status,
      doubled: below.doubled,
      bodyStart: below.bodyStart,
      end,
      sections: first === at ? NO_SECTIONS : headings.slice(first, at).filter(({ level }) => level === 3),
      ticks: within,
    });
  }
  return { outline, tasks, prose };
}

// Shared, because most of up to a hundred thousand tasks have none.
const NO_SECTIONS: readonly Heading[] = [];
const NO_TICKS: readonly TickMark[] = [];
const NOT_DOUBLED: readonly MetadataLine[] = [];

/** The task that a ref identifies; see `TaskRef`. */
export function findByRef<Found extends TaskRef>(tasks: readonly Found[], ref: TaskRef): Found | undefined {
  return refFinder(tasks.filter(({ title }) => title === ref.title))(ref);
}

/** `findByRef` for many refs, without searching all tasks for each. */
export function refFinder<Found extends TaskRef>(
  tasks: readonly Found[],
): (ref: TaskRef) => Found | undefined {
  const byOrdinal = new Map<string, Found>();
  const byStarted = new Map<string, Found>();
  for (const task of tasks.toReversed()) {
    byOrdinal.set(`${task.ordinal} ${task.title}`, task); // the first of several wins
    byStarted.set(`${task.started} ${task.title}`, task);
  }
  return ({ title, ordinal, started }) => {
    const inOrder = byOrdinal.get(`${ordinal} ${title}`);
    if (started === undefined || inOrder?.started === started) return inOrder;
    return byStarted.get(`${started} ${title}`) ?? inOrder;
  };
}

export function metadataOf(
  block: Pick<TaskBlock, "metadata">,
  wanted: MetadataName,
): MetadataLine | undefined {
  for (const line of block.metadata) if (line.name === wanted) return line;
  return undefined;
}

/** A section extends to the next heading of its level. */
export function sectionOf(
  block: TaskBlock,
  title: string,
): { readonly start: number; readonly textStart: number; readonly end: number } | undefined {
  const at = block.sections.findLastIndex((section) => section.title === title);
  const section = block.sections[at];
  if (section === undefined) return undefined;
  const { start, next } = section;
  return { start, textStart: next, end: block.sections[at + 1]?.start ?? block.end };
}

/** A key shared by tasks with the same title and text. */
export function wordsOf({ title }: Pick<TaskRef, "title">, block: string): string {
  return JSON.stringify([title, block.trimEnd()]);
}

/** A part of the text without tick comments, and without lines that hold nothing else. */
export function partOf(text: string, { ticks }: Pick<TaskBlock, "ticks">, from: number, to: number): string {
  if (ticks.length === 0) return text.slice(from, to);
  let kept = "";
  let at = from;
  // By index, without copying: this runs for each line, and there may be a hundred thousand ticks.
  for (let next = firstAfter(ticks, from); ; next++) {
    const tick = ticks[next];
    if (tick === undefined || tick.to > to) break;
    const alone = isAlone(text, tick);
    kept += text.slice(at, alone ? tick.start : tick.from);
    at = alone ? tick.next : tick.to;
  }
  return kept + text.slice(at, to);
}

/** The index of the first tick at or after an offset; ticks are in text order. */
function firstAfter(ticks: readonly TickMark[], offset: number): number {
  let low = 0;
  let high = ticks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ticks[middle]?.from ?? offset) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether its line holds nothing else. */
export function isAlone(text: string, { start, from, to, end }: TickMark): boolean {
  return text.slice(start, from).trim() === "" && text.slice(to, end).trim() === "";
}

/** The metadata in a line, if we know its name. */
export function metadataAt(text: string, { start, end, next, line }: TextLine): MetadataLine | undefined {
  const at = afterSpace(text, start, end);
  if (text.charCodeAt(at) !== STAR) return undefined;
  for (const name of METADATA) {
    if (!text.startsWith(OPENINGS[name], at)) continue;
    const valueStart = afterSpace(text, at + OPENINGS[name].length, end);
    const written = text.slice(valueStart, end);
    const comment = written.indexOf("<!--");
    const value = (comment === -1 ? written : written.slice(0, comment)).trimEnd();
    return { start, end, next, line, name, valueStart, value };
  }
  return undefined;
}

const STAR = 42;
const OPENINGS: Readonly<Record<MetadataName, string>> = {
  Status: "**Status:**",
  Started: "**Started:**",
  Completed: "**Completed:**",
  Template: "**Template:**",
  External: "**External:**",
};

type Below = Pick<TaskBlock, "metadata" | "doubled" | "bodyStart">;

/** `**Priority:** high`: metadata of other programs, which may be mixed with ours. */
const FOREIGN = /^[ \t]*\*\*[^*:]{1,40}:\*\*/;

function isForeign(text: string, { start, end }: TextLine): boolean {
  return text.charCodeAt(afterSpace(text, start, end)) === STAR && FOREIGN.test(text.slice(start, end));
}

function metadataBelow(
  text: string,
  { heading, end, ticks }: Pick<TaskBlock, "heading" | "end" | "ticks">,
): Below {
  const metadata: MetadataLine[] = [];
  const doubled: MetadataLine[] = [];
  let bodyStart = heading.next;
  for (let start = heading.next, number = heading.line + 1; start < end; number++) {
    const line = lineAt(text, start, number);
    start = line.next;
    const found = metadataAt(text, line);
    if (found !== undefined) {
      (metadataOf({ metadata }, found.name) === undefined ? metadata : doubled).push(found);
      bodyStart = line.next;
    } else if (!isBlank(text, line) && !isForeign(text, line)) {
      // Unicode spaces count as blank too.
      if (partOf(text, { ticks }, line.start, line.next).trim() !== "") break;
    }
  }
  return { metadata, doubled: doubled.length === 0 ? NOT_DOUBLED : doubled, bodyStart };
}

function afterSpace(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9)) at++;
  return at;
}

/** Where the trailing lines start that are only tick comments and blank lines between them. */
export function trailStart(text: string, ticks: readonly TickMark[]): number {
  let start = text.length;
  for (const tick of ticks.toReversed()) {
    if (text.slice(tick.next, start).trim() !== "" || !isAlone(text, tick)) break;
    start = tick.start;
  }
  return start;
}
