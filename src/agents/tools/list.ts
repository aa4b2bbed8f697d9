import { readlink } from "node:fs/promises";
import { z } from "zod";

import type { ToolContext, ToolResult } from "../../model/tool.ts";
import { closedFolders, confine, type ConfinedPath } from "./confine.ts";
import { defineFileTool, FILE_TIMEOUT_MS, labelled, pathParameter } from "./file-tool.ts";
import { hasCode } from "../../model/error-code.ts";
import { capOutput } from "./output.ts";
import { type WalkEntry, MAX_VISITED, walk } from "./walk.ts";

export const MAX_LISTED = 500;
export const MAX_LIST_DEPTH = 10;

export const listTool = defineFileTool({
  name: "List",
  description:
    "Lists the entries of a folder: folders end in /, links show their target. With a depth, also the entries of " +
    `subfolders, except .git and node_modules. At most ${MAX_LISTED} entries.`,
  parameters: z.strictObject({
    path: pathParameter.optional().describe("Default: the workspace"),
    depth: z.int().min(1).max(MAX_LIST_DEPTH).optional().describe("1 (default) lists only the folder itself"),
  }),
  writes: false,
  repeatable: true,
  timeoutMs: FILE_TIMEOUT_MS,
  trust: { untrusted: true, private: true },
  errorTrust: { private: true },
  labels: true,
  async run({ path = ".", depth = 1 }, context) {
    const folder = await confine(path, context, "read");
    return labelled(
      () => context.labels?.ofFolders([folder.path]),
      () => list(folder, depth, context),
    );
  },
});

async function list(folder: ConfinedPath, depth: number, context: ToolContext): Promise<ToolResult> {
  const lines: string[] = [];
  const closed = await closedFolders(context);
  for await (const entry of walk(folder, { signal: context.signal, left: MAX_VISITED, closed, depth })) {
    if (lines.length === MAX_LISTED) {
      lines.push(`[Only the first ${MAX_LISTED} entries are shown]`);
      break;
    }
    lines.push(await lineFor(entry));
  }
  const text =
    lines.length === 0
      ? `[${JSON.stringify(folder.shown)} is empty]`
      : await capOutput(lines.join("\n"), context);
  return { text };
}

async function lineFor({ path, place, kind }: WalkEntry): Promise<string> {
  switch (kind) {
    case "file":
      return path;
    case "folder":
      return `${path}/`;
    case "link":
      return `${path} -> ${await targetOf(place.path)}`;
    case "other":
      return `${path} [special file]`;
  }
}

async function targetOf(path: string): Promise<string> {
  try {
    return await readlink(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "EINVAL")) return "?"; // gone, or no longer a link
    throw error;
  }
}
