import { lstat } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { z } from "zod";

import { CortexError } from "../../model/errors.ts";
import type { ToolContext, ToolResult } from "../../model/tool.ts";
import { closedFolders, confine, type Place } from "./confine.ts";
import { defineTool, FILE_TIMEOUT_MS, pathParameter } from "./define.ts";
import { fileFailure } from "./file-failure.ts";
import { openFile } from "./open-inside.ts";
import { compileGlob, compilePattern, type Matches, MAX_PATTERN_LENGTH } from "./pattern.ts";
import { isBinary, readAtMost } from "./read-bytes.ts";
import { MAX_VISITED, walk } from "./walk.ts";

export const MAX_MATCHES = 100;
export const MAX_LINE_SHOWN = 500;
/** Of a longer line, as programs write them, only the beginning is searched. */
export const MAX_LINE_SEARCHED = 10_000;
export const MAX_FILE_BYTES = 5 * 1024 * 1024;

/** How much is searched before others get their turn: a few milliseconds. */
const CHARACTERS_AT_ONCE = 256 * 1024;

export const grepTool = defineTool({
  name: "Grep",
  description:
    "Searches the lines of text files for a regular expression (RE2 syntax; (?i) at its start ignores case). " +
    `Gives path:line:text, at most ${MAX_MATCHES} of them. Leaves out .git and node_modules, unless path is in one.`,
  parameters: z.strictObject({
    pattern: z.string().min(1).max(MAX_PATTERN_LENGTH),
    path: pathParameter.optional().describe("A file, or a folder to search; the workspace if left out"),
    glob: z
      .string()
      .min(1)
      .max(MAX_PATTERN_LENGTH)
      .optional()
      .describe("Only files like this: *.ts in every folder, or src/**/*.ts from path on"),
  }),
  writes: false,
  repeatable: true,
  timeoutMs: FILE_TIMEOUT_MS,
  trust: { untrusted: true, private: true },
  run: (params, context) => searchFiles(params, context),
});

interface GrepParams {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly glob?: string | undefined;
}

export async function searchFiles(
  { pattern, path = ".", glob }: GrepParams,
  context: ToolContext,
  maxVisited = MAX_VISITED,
): Promise<ToolResult> {
  const search = new Search(await compilePattern(pattern), context.signal);
  const isWanted = glob === undefined ? () => true : await compileGlob(inEveryFolder(glob));
  const start = await confine(path, context, "read");
  if (!(await lstat(start.path)).isDirectory()) {
    await search.file(start);
    return { text: search.report() };
  }
  const tour = { signal: context.signal, left: maxVisited, closed: await closedFolders(context) };
  for await (const entry of walk(start, tour)) {
    if (entry.kind === "file" && isWanted(entry.path)) await search.fileAmongOthers(entry.place);
    if (search.isFull) break;
  }
  if (tour.left === 0) search.notes.push(`Stopped after ${maxVisited} files and folders: give a path`);
  return { text: search.report() };
}

function inEveryFolder(glob: string): string {
  return glob.includes("/") ? glob : `**/${glob}`;
}

class Search {
  readonly notes: string[] = [];
  readonly #found: string[] = [];
  readonly #matches: Matches;
  readonly #signal: AbortSignal;
  #searched = 0;
  #leftOut = 0;
  #longLines = 0;

  constructor(matches: Matches, signal: AbortSignal) {
    this.#matches = matches;
    this.#signal = signal;
  }

  /** One more than is shown was found: so it is known that there are more. */
  get isFull(): boolean {
    return this.#found.length > MAX_MATCHES;
  }

  /** Throws if the file cannot be searched. */
  async file(place: Place): Promise<void> {
    await using handle = await openFile(place);
    const bytes = await readAtMost(handle, MAX_FILE_BYTES, this.#signal);
    if (bytes === undefined) throw notSearched(place, `is larger than ${MAX_FILE_BYTES} bytes`);
    if (isBinary(bytes)) throw notSearched(place, "is a binary file");
    await this.#lines(bytes.toString(), place);
  }

  async fileAmongOthers(place: Place): Promise<void> {
    try {
      await this.file(place);
    } catch (error) {
      if (!(error instanceof CortexError) && fileFailure(error, place.shown) === undefined) throw error;
      this.#leftOut += 1;
    }
  }

  async #lines(text: string, { shown }: Place): Promise<void> {
    let number = 0;
    for (let start = 0; start < text.length && !this.isFull;) {
      const newline = text.indexOf("\n", start);
      const end = newline === -1 ? text.length : newline;
      const line = text.slice(start, Math.min(end, start + MAX_LINE_SEARCHED)).replace(/\r$/, "");
      number += 1;
      if (end - start > MAX_LINE_SEARCHED) this.#longLines += 1;
      if (this.#matches(line)) this.#found.push(`${shown}:${number}:${shorten(line)}`);
      await this.#pause(line.length);
      start = end + 1;
    }
  }

  async #pause(searched: number): Promise<void> {
    this.#searched += searched;
    if (this.#searched < CHARACTERS_AT_ONCE) return;
    this.#searched = 0;
    await setImmediate();
    this.#signal.throwIfAborted();
  }

  report(): string {
    const notes = [...this.notes];
    if (this.isFull)
      notes.push(`These are the first ${MAX_MATCHES} matches: narrow the pattern, path or glob`);
    if (this.#leftOut > 0)
      notes.push(`${this.#leftOut} files were left out: binary, over ${MAX_FILE_BYTES} bytes or unreadable`);
    if (this.#longLines > 0)
      notes.push(`${this.#longLines} long lines were searched only up to character ${MAX_LINE_SEARCHED}`);
    const found = this.#found.length === 0 ? ["No matches."] : this.#found.slice(0, MAX_MATCHES);
    return [...found, ...notes.map((note) => `[${note}]`)].join("\n");
  }
}

function shorten(line: string): string {
  return line.length > MAX_LINE_SHOWN ? `${line.slice(0, MAX_LINE_SHOWN)}…` : line;
}

function notSearched({ shown }: Place, why: string): CortexError {
  return new CortexError("tool_failed", `${JSON.stringify(shown)} was not searched: it ${why}`, {
    hint: "Search another file, or use a program by Bash.",
  });
}
