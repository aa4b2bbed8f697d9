/**
 * Which modules share a file of the bundle: those that are loaded by the same processes and need the same packages. So a
 * process loads few files, and nothing that it does not need. What is only loaded on use is split by the bundler.
 *
 * A module only imports modules that are loaded by at least the same processes and need no other packages, so these files
 * never import each other in a circle.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import type { CodeSplittingGroup, Plugin } from "rolldown";

import { isPartOf, PACKAGES, ROOT } from "./package-file.ts";

const SOURCE = join(ROOT, "src");

/** What each kind of process loads from the beginning. What these modules import, it also loads. */
const PROCESSES: Readonly<Record<string, readonly string[]>> = {
  version: ["cli/version"],
  help: ["cli/commands", "cli/command-line"],
  command: ["insight/status-command", "cli/events", "cli/send", "cli/sessions"],
  server: ["cli/up", "cli/bound-memory", "config/team-config", ...openedByFeatures()],
  agent: ["delegation/surface/run-command"],
  store: ["store/sqlite/writer-thread", "store/sqlite/reader-process", "store/sqlite/checkpoint-thread"],
  hooks: ["hooks/run/hook-process"],
  matcher: ["patterns/match-thread"],
};

type ImportsOf = (id: string) => readonly string[];

export function loadedTogether(): { readonly plugin: Plugin; readonly group: CodeSplittingGroup } {
  const names = new Map<string, string>();
  return {
    plugin: {
      name: "loaded-together",
      buildEnd() {
        const importsOf: ImportsOf = (id) => {
          const { importedIds } = this.getModuleInfo(id) ?? this.error(`Not in the program: ${id}`);
          return importedIds;
        };
        for (const [id, processes] of processesOf(importsOf)) {
          if (this.getModuleInfo(id)?.isEntry === false)
            names.set(id, [processes.join("-"), ...packagesOf(id, importsOf)].join("."));
        }
      },
    },
    group: { name: (id) => names.get(id) ?? null, debugName: "loaded-together" },
  };
}

/** The processes that load each module. */
function processesOf(importsOf: ImportsOf): ReadonlyMap<string, readonly string[]> {
  const loads = Object.entries(PROCESSES).flatMap(([process, roots]) => {
    const ids = reachable(
      roots.map((root) => join(SOURCE, `${root}.ts`)),
      importsOf,
    );
    return [...ids].filter((id) => id.startsWith(SOURCE)).map((id) => ({ process, id }));
  });
  const byModule = Map.groupBy(loads, ({ id }) => id);
  return new Map([...byModule].map(([id, each]) => [id, each.map(({ process }) => process)]));
}

/** The packages that a module needs, as parts of a file name. */
function packagesOf(id: string, importsOf: ImportsOf): readonly string[] {
  const ids = [...reachable([id], importsOf)];
  return PACKAGES.filter((name) => ids.some((other) => isPartOf(name, other))).map((name) =>
    name.replaceAll(/\W+/g, "-"),
  );
}

function reachable(roots: readonly string[], importsOf: ImportsOf): ReadonlySet<string> {
  const found = new Set(roots);
  for (const id of found) for (const imported of importsOf(id)) found.add(imported); // the loop also visits these
  return found;
}

/** What the features import to open and to have their routes: `cortex up` does both. */
function openedByFeatures(): readonly string[] {
  return readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("/feature.ts"))
    .flatMap((file) =>
      importsInside(["open", "routes"], readFileSync(join(SOURCE, file), "utf8")).map((path) =>
        join(file, "..", path).slice(0, -".ts".length),
      ),
    );
}

/** What is imported on use inside the properties of these names. */
function importsInside(properties: readonly string[], code: string): readonly string[] {
  const ranges: { readonly start: number; readonly end: number }[] = [];
  const imports: { readonly start: number; readonly path: string }[] = [];
  new Visitor({
    Property({ key, start, end }) {
      if (key.type === "Identifier" && properties.includes(key.name)) ranges.push({ start, end });
    },
    ImportExpression({ source, start }) {
      if (source.type === "Literal") imports.push({ start, path: String(source.value) });
    },
  }).visit(parseSync("feature.ts", code).program);
  return imports.flatMap(({ start: at, path }) =>
    ranges.some(({ start, end }) => start < at && at < end) ? [path] : [],
  );
}
