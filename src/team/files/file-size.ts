/**
 * Of any file of a team: ten thousand tasks are less. Larger ones are neither read nor written, because reading one takes
 * time of the server's own, for each line of it.
 */
export const MAX_TEAM_FILE_BYTES = 4 * 1_048_576;
export const MAX_TEAM_FILE_LINES = 100_000;

/** What is too much about it, as it follows "it has". Undefined: nothing. */
export function excessOf(content: Buffer): string | undefined {
  if (content.length > MAX_TEAM_FILE_BYTES)
    return `${content.length} bytes, and at most ${MAX_TEAM_FILE_BYTES} are read`;
  let lines = 1;
  for (let at = content.indexOf(LINE_FEED); at !== -1; at = content.indexOf(LINE_FEED, at + 1))
    if (++lines > MAX_TEAM_FILE_LINES) return `more than the ${MAX_TEAM_FILE_LINES} lines that are read`;
  return undefined;
}

const LINE_FEED = 10;
