/**
 * How an agent gives up on a whole relay: by a line `[ABORT]` or `[ABORT: reason]` in the artifact.
 *
 * Agents also write about the marker, quote it and copy it from elsewhere. So it counts only on a line of its own,
 * which a bullet may begin and bold may wrap, outside code, and only if the step that has just ended put it there.
 */

import { inSlices, type Sliced } from "../../model/in-slices.ts";

export interface Abort {
  /** Null where none was given. */
  readonly reason: string | null;
}

/** The first marker in a text that was not in the text before. Undefined: there is none. */
export async function findAbort(before: string, after: string): Promise<Abort | undefined> {
  return after.includes(MARKER_START) ? inSlices(newMarker(before, after)) : undefined;
}

function* newMarker(before: string, after: string): Sliced<Abort | undefined> {
  // One that was there already is known by its words: where it stands may have changed.
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

/** A longer line is none that an agent meant as a marker. */
export const MAX_MARKER_LINE_LENGTH = 2000;

const MARKER_START = "[ABORT";

/** At most three blanks, as in markdown: more of them make code of a line. */
const BULLET = String.raw`^ {0,3}(?:(?:[-*+•]|\d{1,9}[.)])[ \t]+)*`;
/** Brackets in a reason come in pairs, so that what follows the marker is no part of it. */
const MARKER = String.raw`\[ABORT(?::(?<reason>(?:[^[\]]|\[[^[\]]*\])*))?\]`;
const MARKER_LINE = new RegExp(String.raw`${BULLET}(?<bold>\*\*|__)?${MARKER}\k<bold>[ \t]*$`);

/** The reasons of all markers of a text, in their order. Undefined: a line that might have been one, and is none. */
function* markersOf(text: string): Generator<string | undefined> {
  let fence: string | undefined;
  for (const line of tellingLines(text)) {
    if (line.length <= MAX_MARKER_LINE_LENGTH) fence = afterLine(fence, line);
    const isText = fence === undefined && line.length <= MAX_MARKER_LINE_LENGTH;
    const match = isText ? MARKER_LINE.exec(line) : null;
    yield match === null ? undefined : (match.groups!["reason"]?.trim() ?? "");
  }
}

/** Those that could hold a marker or a fence: an artifact may have millions of others. */
function* tellingLines(text: string): Generator<string> {
  const telling = /\[ABORT|```|~~~/g;
  const lineEnd = /\r|\n|$/g;
  let end = 0;
  for (let found = telling.exec(text); found !== null; found = telling.exec(text)) {
    const skipped = text.slice(end, found.index); // nothing is looked at twice
    const start = end + Math.max(skipped.lastIndexOf("\n"), skipped.lastIndexOf("\r")) + 1;
    lineEnd.lastIndex = found.index;
    end = lineEnd.exec(text)!.index;
    yield text.slice(start, end);
    telling.lastIndex = end;
  }
}

/** At any depth, also behind bullets and quotes: it is safer to see a fence too many than one too few. */
const FENCE_LINE = /^(?:[ \t>]|[-*+•][ \t]|\d{1,9}[.)][ \t])*(?<run>`{3,}|~{3,})(?<rest>.*)$/s;

/** The fence that is open after a line, given the one that was open before it. */
function afterLine(open: string | undefined, line: string): string | undefined {
  const { run, rest } = FENCE_LINE.exec(line)?.groups ?? {};
  if (run === undefined || rest === undefined) return open;
  if (open !== undefined) return run.startsWith(open) && rest.trim() === "" ? undefined : open;
  return run.startsWith("`") && rest.includes("`") ? undefined : run; // that is code within a line
}
