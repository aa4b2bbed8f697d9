import { lstat, readlink } from "node:fs/promises";
import { z } from "zod";

import type { ToolResult } from "../../model/tool.ts";
import { type ConfinedPath, confineEntry } from "./confine.ts";
import { defineFileTool, FILE_TIMEOUT_MS, labelled, pathParameter } from "./file-tool.ts";
import { entryKind } from "./walk.ts";

export const statTool = defineFileTool({
  name: "Stat",
  description: "Shows the kind, size, modification time and permissions of a path, and the target of a link.",
  parameters: z.strictObject({ path: pathParameter }),
  writes: false,
  repeatable: true,
  timeoutMs: FILE_TIMEOUT_MS,
  // The creator of a link chooses the text of its target.
  trust: { untrusted: true, private: true },
  errorTrust: { private: true },
  labels: true,
  async run({ path }, context) {
    const place = await confineEntry(path, context);
    return labelled(
      () => context.labels?.ofFile(place.path),
      () => describe(place),
    );
  },
});

async function describe(place: ConfinedPath): Promise<ToolResult> {
  const stats = await lstat(place.path);
  const facts = {
    path: place.shown,
    kind: entryKind(stats),
    size: stats.size,
    modified: stats.mtime.toISOString(),
    mode: (stats.mode & 0o7777).toString(8).padStart(4, "0"),
    ...(stats.isSymbolicLink() ? { target: await readlink(place.path) } : {}),
  };
  const text = Object.entries(facts).map(([name, value]) => `${name}: ${value}`);
  return { text: text.join("\n"), details: facts };
}
