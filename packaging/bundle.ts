/**
 * Bundles `src/` into a few files: finding, reading and linking 500 small modules would cost a server 100 ms. Dependencies
 * stay in `node_modules`, and stack traces stay readable, because nothing is minified.
 */
import { type LogLevel, type OutputChunk, rolldown, type RolldownLog } from "rolldown";

import { loadedTogether } from "./loaded-together.ts";
import { isPartOf, PACKAGES, PUBLIC_MODULES, ROOT } from "./package-file.ts";

/** What the program starts or hands to hooks by its path. Each is a file at the same path as in `src/`. */
export const MODULES: readonly string[] = [
  "conformance/channels",
  "hooks/hook",
  "hooks/run/hook-process",
  "hooks/run/read-only-database",
  "patterns/match-thread",
  "store/sqlite/checkpoint-thread",
  "store/sqlite/reader-process",
  "store/sqlite/writer-thread",
];

/** Writes the files into the folder, and returns them. */
export async function bundle(folder: string): Promise<readonly OutputChunk[]> {
  const entries = new Set(["cli/main", ...PUBLIC_MODULES, ...MODULES]);
  const { plugin, group } = loadedTogether();
  await using build = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries([...entries].map((name) => [name, `src/${name}.ts`])),
    platform: "node",
    external: (id) => id.startsWith("node:") || PACKAGES.some((name) => isPartOf(name, id)),
    plugins: [plugin],
    preserveEntrySignatures: "allow-extension", // needed by the groups, and extends none: entries share what they export
    onLog: failOnWarning,
  });
  const { output } = await build.write({
    dir: folder,
    format: "es",
    charset: "ascii", // V8 keeps other text in twice the memory
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js", // two folders below the root, as src/model/own-files.ts expects
    comments: { legal: true, annotation: false, jsdoc: false },
    codeSplitting: { groups: [group], includeDependenciesRecursively: false },
  });
  return output.filter((file) => file.type === "chunk");
}

/** An import that package.json does not explain, say. */
function failOnWarning(level: LogLevel, { code, message }: RolldownLog): void {
  if (level !== "warn" || code === "INEFFECTIVE_DYNAMIC_IMPORT") return; // one file imports it on use, another at once
  throw new Error(message);
}
