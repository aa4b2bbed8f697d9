/** Fenced code, as markdown has it: which lines open it, and which line closes what is open. */

export interface Fence {
  /** The run of backticks or tildes. */
  readonly marker: string;
  /** The whole line that opened it, with its info string, without its end. */
  readonly opener: string;
}

/** Any depth of blanks: models put fences into lists, where markdown counts from the list's own margin. */
const FENCE_LINE = /^[ \t]*(`{3,}|~{3,})([^\n]*)$/;

export function isFenceLine(line: string): boolean {
  return FENCE_LINE.test(line);
}

/** What is open after a line, given what was open before it: the same fence, none, or the one it opens. */
export function afterLine(open: Fence | undefined, line: string): Fence | undefined {
  const match = FENCE_LINE.exec(line);
  if (match === null) return open;
  const marker = match[1]!;
  const info = match[2]!;
  if (open !== undefined) {
    const closes = marker[0] === open.marker[0] && marker.length >= open.marker.length && info.trim() === "";
    return closes ? undefined : open;
  }
  if (marker.startsWith("`") && info.includes("`")) return undefined; // that is code within a line
  return { marker, opener: line.trimEnd() };
}
