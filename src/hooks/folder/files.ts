/** The hooks folder of a home: its initial content, and new files in it. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { parseHookName } from "../hook-name.ts";
import { writeTemplate } from "./template.ts";
import { CortexError } from "../../model/errors.ts";
import { ownFile, ownTypes } from "../../model/own-files.ts";
import { makeHome } from "../../config/home.ts";

/** The hooks that come with Cortex. */
const SHIPPED = fileURLToPath(ownFile("hooks"));
const EXTENSIONS = [".ts", ".mts", ".js", ".mjs"] as const;

export function hooksPath(home: string): string {
  return join(home, "hooks");
}

/**
 * Creates the hooks folder of a home with the hooks that come with Cortex, atomically. An existing folder is not changed, so
 * a deleted hook does not come back. Returns the files.
 */
export function addShippedHooks(home: string): string[] {
  const folder = hooksPath(home);
  if (existsSync(folder)) return [];
  const names = readdirSync(SHIPPED).filter((name) => name.endsWith(".ts"));
  try {
    const growing = mkdtempSync(join(home, ".hooks-"));
    try {
      for (const name of names) writeFileSync(join(growing, name), readFileSync(join(SHIPPED, name)));
      for (const [name, content] of editorFiles()) writeFileSync(join(growing, name), content);
      renameSync(growing, folder);
    } finally {
      rmSync(growing, { recursive: true, force: true });
    }
  } catch (error) {
    if (existsSync(folder)) return []; // another process was faster
    throw unwritable(folder, error);
  }
  return names.map((name) => join(folder, name));
}

/** Writes a new hook from a template. Returns its path. */
export function writeNewHook(home: string, name: string, schedule?: string): string {
  return addHookFile(home, name, writeTemplate(parseHookName(name), schedule));
}

/** Adds a file. Throws `state_conflict` if the name is taken, with any extension. */
export function addHookFile(home: string, name: string, source: string): string {
  const folder = hooksPath(home);
  makeHome(home);
  addShippedHooks(home);
  const known = findHookFile(home, parseHookName(name));
  if (known !== undefined) throw exists(name, known);
  const path = join(folder, `${name}.ts`);
  try {
    for (const [file, content] of editorFiles()) writeMissing(join(folder, file), content);
    // Watchers of the folder never see a partial file.
    const growing = join(folder, `.${name}.new`);
    writeFileSync(growing, source);
    renameSync(growing, path);
  } catch (error) {
    throw unwritable(path, error);
  }
  return path;
}

/** The file of a hook, if it exists. */
export function findHookFile(home: string, name: string): string | undefined {
  return EXTENSIONS.map((extension) => join(hooksPath(home), name + extension)).find((path) =>
    existsSync(path),
  );
}

/** Makes editors and Node read the folder as we do: its files are modules, and `cortexd/hooks` is ours. */
function editorFiles(): readonly (readonly [name: string, content: string])[] {
  const types = fileURLToPath(ownTypes("hooks/hook"));
  const tsconfig = {
    compilerOptions: {
      target: "es2024",
      // Includes the web APIs of Node; for the rest, run `npm install -D @types/node` in the home.
      lib: ["es2024", "dom"],
      module: "nodenext",
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      paths: { "cortexd/hooks": [types] },
    },
    include: ["*.ts"],
  };
  return [
    ["package.json", '{ "private": true, "type": "module" }\n'],
    ["tsconfig.json", `${JSON.stringify(tsconfig, null, 2)}\n`],
  ];
}

function writeMissing(path: string, content: string): void {
  if (!existsSync(path)) writeFileSync(path, content);
}

function exists(name: string, path: string): CortexError {
  return new CortexError("state_conflict", `Hook "${name}" already exists in ${basename(path)}`, {
    hint: "Choose another name, or edit that file; it is reloaded when you save it.",
  });
}

function unwritable(path: string, cause: unknown): CortexError {
  return new CortexError("home_unwritable", `Cannot write ${path}`, {
    hint: "Check its permissions, or choose another home with --home or CORTEX_HOME.",
    cause,
  });
}
