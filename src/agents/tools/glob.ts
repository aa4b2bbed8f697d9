import { lstat } from "node:fs/promises";
import { z } from "zod";

import type { ToolContext, ToolResult } from "../../model/tool.ts";
import { agentPatterns } from "../../patterns/matcher.ts";
import { closedFolders, confine, type ConfinedPath, placeIn } from "./confine.ts";
import { defineFileTool, FILE_TIMEOUT_MS, labelled, pathParameter } from "./file-tool.ts";
import { hasCode } from "../../model/error-code.ts";
import { capOutput } from "./output.ts";
import { globPattern, MAX_PATTERN_LENGTH } from "./pattern.ts";
import { type WalkEntry, inBatches, matching, MAX_VISITED, type Walk, walk } from "./walk.ts";

export const MAX_FOUND = 1000;

export const globTool = defineFileTool({
  name: "Glob",
  description:
    "Finds files by path, for example src/**/*.{ts,js}; **/ matches any number of folders. Sorted, at most " +
    `${MAX_FOUND}. Skips .git and node_modules unless the pattern or path starts with one.`,
  parameters: z.strictObject({
    pattern: z.string().min(1).max(MAX_PATTERN_LENGTH).describe("Relative to path"),
    path: pathParameter.optional().describe("The folder to start in (default: the workspace)"),
  }),
  writes: false,
  repeatable: true,
  timeoutMs: FILE_TIMEOUT_MS,
  trust: { untrusted: true, private: true },
  errorTrust: { private: true },
  labels: true,
  run: (params, context) => findFiles(params, context),
});

interface GlobParams {
  readonly pattern: string;
  readonly path?: string | undefined;
}

export async function findFiles(
  { pattern, path = "." }: GlobParams,
  context: ToolContext,
  maxVisited = MAX_VISITED,
): Promise<ToolResult> {
  const { folder, rest } = splitPattern(pattern);
  const wanted = globPattern(rest);
  await agentPatterns.check([wanted], context.signal);
  const start = await confine(path, context, "read");
  await lstat(start.path);
  const below = await confine(placeIn(start, folder).path, context, "read");
  return labelled(
    () => context.labels?.ofFolders([below.path]),
    () => findBelow(below, { wanted, maxVisited }, context),
  );
}

async function findBelow(
  below: ConfinedPath,
  { wanted, maxVisited }: { readonly wanted: string; readonly maxVisited: number },
  context: ToolContext,
): Promise<ToolResult> {
  const found: string[] = [];
  const tour = { signal: context.signal, left: maxVisited, closed: await closedFolders(context) };
  for await (const entries of inBatches(walkIfThere(below, tour))) {
    const files = entries.filter(({ kind }) => kind !== "folder");
    const matched = await matching(files, wanted, context.signal);
    found.push(...matched.map(({ place }) => place.shown));
    if (found.length > MAX_FOUND) break;
  }
  const notes: string[] = [];
  if (found.length > MAX_FOUND) notes.push(`[These are the first ${MAX_FOUND}: narrow the pattern]`);
  if (tour.left === 0) notes.push(`[Stopped after ${maxVisited} files and folders: give a path]`);
  const text =
    found.length === 0
      ? ["No files match.", ...notes].join("\n")
      : await capOutput([...notes, ...found.slice(0, MAX_FOUND)].join("\n"), context);
  return { text };
}

/** Splits off the literal folders at the start of a pattern: nothing outside them can match. */
function splitPattern(pattern: string): { readonly folder: string; readonly rest: string } {
  const names = pattern.split("/");
  const first = names.findIndex((name) => /[*?[\]{},\\]/.test(name));
  const count = first === -1 ? names.length - 1 : first;
  const folder = names.slice(0, count).join("/");
  return { folder, rest: names.slice(count).join("/") };
}

/** If the pattern starts with a folder that does not exist, nothing matches; that is not an error. */
async function* walkIfThere(place: ConfinedPath, tour: Walk): AsyncGenerator<WalkEntry> {
  try {
    yield* walk(place, tour);
  } catch (error) {
    if (!hasCode(error, "ENOENT", "ENOTDIR")) throw error;
  }
}
