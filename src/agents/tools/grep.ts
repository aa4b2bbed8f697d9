import { lstat } from "node:fs/promises";
import { z } from "zod";

import { count } from "../../model/count.ts";
import { CortexError } from "../../model/errors.ts";
import type { ToolContext, ToolResult } from "../../model/tool.ts";
import { agentPatterns } from "../../patterns/matcher.ts";
import { closedFolders, confine, type ConfinedPath } from "./confine.ts";
import { defineFileTool, labelled, FILE_TIMEOUT_MS, fileFailure, pathParameter } from "./file-tool.ts";
import { openFile } from "./open-inside.ts";
import { globPattern, MAX_PATTERN_LENGTH } from "./pattern.ts";
import { isBinary, readAtMost } from "./read-bytes.ts";
import { inBatches, matching, MAX_VISITED, walk } from "./walk.ts";

export const MAX_MATCHES = 100;
export const MAX_LINE_SHOWN = 500;
/** Longer lines, as in generated files, are searched only up to here. */
export const MAX_LINE_SEARCHED = 10_000;
export const MAX_SEARCHED_BYTES = 5 * 1024 * 1024;

export const grepTool = defineFileTool({
  name: "Grep",
  description:
    "Searches the lines of text files for a regular expression (RE2 syntax; start it with (?i) to ignore case). " +
    `Returns path:line:text, at most ${MAX_MATCHES} matches. Skips .git and node_modules unless path is inside one.`,
  parameters: z.strictObject({
    pattern: z.string().min(1).max(MAX_PATTERN_LENGTH),
    path: pathParameter.optional().describe("A file or folder (default: the workspace)"),
    glob: z
      .string()
      .min(1)
      .max(MAX_PATTERN_LENGTH)
      .optional()
      .describe("Only matching files: *.ts in any folder, or src/**/*.ts relative to path"),
  }),
  writes: false,
  repeatable: true,
  timeoutMs: FILE_TIMEOUT_MS,
  trust: { untrusted: true, private: true },
  errorTrust: { private: true },
  labels: true,
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
  const search = new Search(pattern, context.signal);
  const wanted = glob === undefined ? undefined : globPattern(inEveryFolder(glob));
  await agentPatterns.check([pattern, ...(wanted === undefined ? [] : [wanted])], context.signal);
  const start = await confine(path, context, "read");
  if (!(await lstat(start.path)).isDirectory()) {
    return labelled(
      () => context.labels?.ofFile(start.path),
      async () => {
        await search.file(start);
        return { text: search.report() };
      },
    );
  }
  return labelled(
    () => context.labels?.ofFolders([start.path]),
    () => searchFolder(start, { search, wanted, maxVisited }, context),
  );
}

interface FolderSearch {
  readonly search: Search;
  readonly wanted: string | undefined;
  readonly maxVisited: number;
}

async function searchFolder(
  start: ConfinedPath,
  { search, wanted, maxVisited }: FolderSearch,
  context: ToolContext,
): Promise<ToolResult> {
  const tour = { signal: context.signal, left: maxVisited, closed: await closedFolders(context) };
  for await (const entries of inBatches(walk(start, tour))) {
    const files = entries.filter(({ kind }) => kind === "file");
    for (const { place } of await matching(files, wanted, context.signal)) {
      await search.fileAmongOthers(place);
      if (search.isFull) break;
    }
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
  readonly #pattern: string;
  readonly #signal: AbortSignal;
  #leftOut = 0;
  #longLines = 0;

  constructor(pattern: string, signal: AbortSignal) {
    this.#pattern = pattern;
    this.#signal = signal;
  }

  /** Finding one more match than is shown proves that there are more. */
  get isFull(): boolean {
    return this.#found.length > MAX_MATCHES;
  }

  /** Throws if the file cannot be searched. */
  async file(place: ConfinedPath): Promise<void> {
    await using handle = await openFile(place);
    const bytes = await readAtMost(handle, MAX_SEARCHED_BYTES, this.#signal);
    if (bytes === undefined) throw notSearched(place, `is larger than ${MAX_SEARCHED_BYTES} bytes`);
    if (isBinary(bytes)) throw notSearched(place, "is a binary file");
    const limits = {
      lines: MAX_MATCHES + 1 - this.#found.length,
      searched: MAX_LINE_SEARCHED,
      shown: MAX_LINE_SHOWN,
    };
    const { lines, cut } = await agentPatterns.lines(this.#pattern, bytes, limits, this.#signal);
    this.#found.push(...lines.map(({ number, text }) => `${place.shown}:${number}:${text}`));
    this.#longLines += cut;
  }

  async fileAmongOthers(place: ConfinedPath): Promise<void> {
    try {
      await this.file(place);
    } catch (error) {
      const isOfFile = error instanceof CortexError && error.code !== "pattern_refused";
      if (!isOfFile && fileFailure(error, place.shown) === undefined) throw error;
      this.#leftOut += 1;
    }
  }

  report(): string {
    const notes = [...this.notes];
    if (this.isFull)
      notes.push(`These are the first ${MAX_MATCHES} matches: narrow the pattern, path or glob`);
    if (this.#leftOut > 0)
      notes.push(
        `${count(this.#leftOut, "file was", "files were")} skipped: binary, over ${MAX_SEARCHED_BYTES} bytes or unreadable`,
      );
    if (this.#longLines > 0)
      notes.push(
        `${count(this.#longLines, "long line was", "long lines were")} searched only up to character ${MAX_LINE_SEARCHED}`,
      );
    const found = this.#found.length === 0 ? ["No matches."] : this.#found.slice(0, MAX_MATCHES);
    return [...found, ...notes.map((note) => `[${note}]`)].join("\n");
  }
}

function notSearched({ shown }: ConfinedPath, why: string): CortexError {
  return new CortexError("tool_failed", `Cannot search ${JSON.stringify(shown)}: it ${why}`, {
    hint: "Search another file, or use a Bash command.",
  });
}
