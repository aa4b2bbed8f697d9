/** The folder of hooks in a home: how it begins, and what is written into it. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { parseHookName } from "../hook-name.ts";
import { writeTemplate } from "./template.ts";
import { CortexError } from "../../model/errors.ts";
import { makeHome } from "../../config/home.ts";

/** The hooks that come with Cortex. In a checkout and in the package alike, they lie beside this file's folder. */
const SHIPPED = fileURLToPath(new URL("../../../hooks", import.meta.url));
const ENDINGS = [".ts", ".mts", ".js", ".mjs"] as const;

export function hooksPath(home: string): string {
  return join(home, "hooks");
}

/**
 * Makes the folder of hooks in a home where there is none, with those that come with Cortex; whoever deletes one of them is
 * rid of it. All of it or nothing: a folder that is there is not looked at. Returns the files.
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
    if (existsSync(folder)) return []; // somebody else was faster
    throw unwritable(folder, error);
  }
  return names.map((name) => join(folder, name));
}

/** Writes a hook that can be filled in. Returns its path. */
export function writeNewHook(home: string, name: string, schedule?: string): string {
  return addHookFile(home, name, writeTemplate(parseHookName(name), schedule));
}

/** Adds a file. One of that name that is there already, with whatever ending, is `state_conflict`. */
export function addHookFile(home: string, name: string, source: string): string {
  const folder = hooksPath(home);
  makeHome(home);
  addShippedHooks(home);
  const known = findHookFile(home, parseHookName(name));
  if (known !== undefined) throw exists(name, known);
  const path = join(folder, `${name}.ts`);
  try {
    for (const [file, content] of editorFiles()) writeMissing(join(folder, file), content);
    // Whoever watches the folder never sees half of it.
    const growing = join(folder, `.${name}.new`);
    writeFileSync(growing, source);
    renameSync(growing, path);
  } catch (error) {
    throw unwritable(path, error);
  }
  return path;
}

/** The file of a hook. Undefined: there is none. */
export function findHookFile(home: string, name: string): string | undefined {
  return ENDINGS.map((ending) => join(hooksPath(home), name + ending)).find((path) => existsSync(path));
}

/** What makes editors and Node read the folder as we do: its files are modules, and `cortexd/hooks` is ours. */
function editorFiles(): readonly (readonly [name: string, content: string])[] {
  const here = fileURLToPath(import.meta.url);
  const ending = extname(here) === ".ts" ? ".ts" : ".d.ts";
  const types = join(dirname(dirname(here)), `hook${ending}`);
  const tsconfig = {
    compilerOptions: {
      target: "es2024",
      // What Node has of the web is known too; for the rest, `npm install -D @types/node` in the home.
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
  return new CortexError("state_conflict", `There is a hook "${name}" already, in ${basename(path)}`, {
    hint: "Choose another name, or change that file: it is read again when it is saved.",
  });
}

function unwritable(path: string, cause: unknown): CortexError {
  return new CortexError("home_unwritable", `${path} cannot be written`, {
    hint: "Check its permissions, or name another home with --home or CORTEX_HOME.",
    cause,
  });
}
