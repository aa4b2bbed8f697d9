/**
 * The marker by which an agent aborts the whole relay: a line `[ABORT]` or `[ABORT: reason]` in the artifact.
 *
 * Agents also discuss, quote and copy the marker. So it only counts if it is alone on its line (a bullet and bold are
 * allowed), outside code, and was added by the step that has just ended.
 */
import { inSlices, type Sliced } from "../../model/in-slices.ts";

export interface Abort {
  /** Null: none given. */
  readonly reason: string | null;
}

/** The first marker in a text that was not in the text before. */
export async function findAbort(before: string, after: string): Promise<Abort | undefined> {
  return after.includes(MARKER_START) ? inSlices(newMarker(before, after)) : undefined;
}

function* newMarker(before: string, after: string): Sliced<Abort | undefined> {
  // Earlier markers are recognised by their reasons, because their positions may have changed.
  const known = new Map<string, number>();
  for (const reason of markersOf(before)) {
    yield;
    if (reason !== undefined) known.set(reason, (known.get(reason) ?? 0) + 1);
  }
  for (const reason of markersOf(after)) {
    yield;
    if (reason === undefined) continue;
    const left = known.get(reason) ?? 0;
    if (left === 0) return { reason: reason === "" ? null : reason };
    known.set(reason, left - 1);
  }
  return undefined;
}

/** A longer line is not a marker. */
export const MAX_MARKER_LINE_LENGTH = 2000;

const MARKER_START = "[ABORT";

/** At most three spaces, as in Markdown: four would make the line code. */
const BULLET = String.raw`^ {0,3}(?:(?:[-*+•]|\d{1,9}[.)])[ \t]+)*`;
/** Brackets in a reason are balanced, so text after the marker is not part of it. */
const MARKER = String.raw`\[ABORT(?::(?<reason>(?:[^[\]]|\[[^[\]]*\])*))?\]`;
const MARKER_LINE = new RegExp(String.raw`${BULLET}(?<bold>\*\*|__)?${MARKER}\k<bold>[ \t]*$`);

/** The reasons of all markers in a text, in order. Undefined: a candidate line without a marker. */
function* markersOf(text: string): Generator<string | undefined> {
  let fence: string | undefined;
  for (const line of tellingLines(text)) {
    if (line.length <= MAX_MARKER_LINE_LENGTH) fence = afterLine(fence, line);
    const isText = fence === undefined && line.length <= MAX_MARKER_LINE_LENGTH;
    const match = isText ? MARKER_LINE.exec(line) : null;
    yield match === null ? undefined : (match.groups?.["reason"]?.trim() ?? "");
  }
}

/** The lines that could contain a marker or a fence. An artifact may have millions of others. */
function* tellingLines(text: string): Generator<string> {
  const telling = /\[ABORT|```|~~~/g;
  const lineEnd = /\r|\n|$/g;
  let end = 0;
  for (let found = telling.exec(text); found !== null; found = telling.exec(text)) {
    const skipped = text.slice(end, found.index); // nothing is scanned twice
    const start = end + Math.max(skipped.lastIndexOf("\n"), skipped.lastIndexOf("\r")) + 1;
    lineEnd.lastIndex = found.index;
    end = lineEnd.exec(text)?.index ?? text.length;
    yield text.slice(start, end);
    telling.lastIndex = end;
  }
}

/** At any depth, even after bullets and quotes: missing a fence is worse than seeing one too many. */
const FENCE_LINE = /^(?:[ \t>]|[-*+•][ \t]|\d{1,9}[.)][ \t])*(?<run>`{3,}|~{3,})(?<rest>.*)$/s;

/** The fence that is open after a line, given the one open before it. */
function afterLine(open: string | undefined, line: string): string | undefined {
  const { run, rest } = FENCE_LINE.exec(line)?.groups ?? {};
  if (run === undefined || rest === undefined) return open;
  if (open !== undefined) return run.startsWith(open) && rest.trim() === "" ? undefined : open;
  return run.startsWith("`") && rest.includes("`") ? undefined : run; // inline code
}
