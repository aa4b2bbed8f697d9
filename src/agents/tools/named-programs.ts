/**
 * The files of an agent's folders that a command would run, as far as its words tell: `./run`, `bash x.sh`, `node tool.js`,
 * and what `make` and package managers read. An approval of the command is bound to their content. A program that another
 * program starts, or whose name is computed, is not found.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { extname } from "node:path";

import { hasCode } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";
import type { FileDigest } from "../../model/request.ts";
import type { ToolContext } from "../../model/tool.ts";
import { confine } from "./confine.ts";
import { openFile } from "./open-inside.ts";
import { readAtMost } from "./read-bytes.ts";

export const MAX_NAMED_PROGRAMS = 20;
export const MAX_PROGRAM_BYTES = 10 * 1024 * 1024;
/** Of a command: the rest is not searched for names. */
export const MAX_SEARCHED_WORDS = 2_000;

const SCRIPTS = new Set(
  ".bash .cjs .cts .js .jsx .lua .mjs .mts .php .pl .ps1 .py .rb .sh .ts .tsx .zsh".split(" "),
);
const INTERPRETERS =
  /^(?:\.|source|env|exec|(?:ba|da|k|z)?sh|bun|deno|lua|node|nodejs|perl|php|python[\d.]*|ruby|tsx|ts-node)$/;
/** Files that programs read without being told their names. */
const READ_BY: Readonly<Record<string, readonly string[]>> = {
  make: ["GNUmakefile", "makefile", "Makefile"],
  gmake: ["GNUmakefile", "makefile", "Makefile"],
  just: ["justfile", "Justfile", ".justfile"],
  npm: ["package.json"],
  npx: ["package.json"],
  pnpm: ["package.json"],
  yarn: ["package.json"],
  bun: ["package.json"],
};

export async function namedPrograms(command: string, context: ToolContext): Promise<FileDigest[]> {
  const found = new Map<string, FileDigest>();
  const seen = new Set<string>();
  for (const { word, before } of wordsOf(command)) {
    const isRun = INTERPRETERS.test(before);
    for (const name of [word, ...(Object.hasOwn(READ_BY, word) ? READ_BY[word]! : [])]) {
      const key = `${name}\0${isRun}`;
      if (found.size >= MAX_NAMED_PROGRAMS || seen.has(key)) continue;
      seen.add(key);
      const file = await readProgram(name, { isRun: isRun || name !== word }, context);
      if (file !== undefined) found.set(file.path, file);
    }
  }
  return [...found.values()];
}

/** What is between blanks, quotes and the operators of a shell, without options. */
function wordsOf(command: string): { word: string; before: string }[] {
  const words = command.match(/[^\s'"`;|&()<>{}=$,\\]+/g)?.slice(0, MAX_SEARCHED_WORDS) ?? [];
  const named = words.filter((word) => !word.startsWith("-"));
  return named.map((word, at) => ({ word, before: (named[at - 1] ?? "").replace(/^.*\//, "") }));
}

/** Undefined: there is no such file within reach, or it is no program. */
async function readProgram(
  name: string,
  { isRun }: { readonly isRun: boolean },
  context: ToolContext,
): Promise<FileDigest | undefined> {
  try {
    const place = await confine(name, context, "read");
    await using handle = await openFile(place);
    const { mode } = await handle.stat();
    const bytes = await readAtMost(handle, MAX_PROGRAM_BYTES, context.signal);
    const isProgram =
      isRun ||
      SCRIPTS.has(extname(name).toLowerCase()) ||
      (mode & constants.S_IXUSR) !== 0 ||
      bytes?.subarray(0, 2).toString() === "#!";
    if (bytes === undefined || !isProgram) return undefined;
    return { path: place.shown, sha256: createHash("sha256").update(bytes).digest("hex") };
  } catch (error) {
    if (error instanceof CortexError) return undefined;
    if (hasCode(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP", "ENAMETOOLONG", "EISDIR", "EPERM"))
      return undefined;
    throw error;
  }
}
