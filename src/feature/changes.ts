/**
 * Fixes that the doctor can apply. They never lose anything: permissions of a file, a missing folder, a stale note of a
 * dead process. Configuration files are left to people.
 */
import { chmod, link, mkdir, readFile, rename, rm, stat } from "node:fs/promises";

import { codeOf, hasCode } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";

export type Change =
  | { readonly kind: "mode"; readonly path: string; readonly from: number; readonly to: number }
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "remove"; readonly path: string; readonly content: string };

/** The permission bits of a mode. */
const PERMISSIONS = 0o7777;

export function changeMode(path: string, mode: number, { without }: { without: number }): Change {
  const from = mode & PERMISSIONS;
  return { kind: "mode", path, from, to: from & ~without };
}

/** The lines of a diff. */
export function describeChange(change: Change): string[] {
  const { path } = change;
  switch (change.kind) {
    case "mode":
      return [`- ${octal(change.from)} ${path}`, `+ ${octal(change.to)} ${path}`];
    case "folder":
      return [`+ ${path}/`];
    case "remove":
      return [
        `--- ${path}`,
        ...change.content
          .trimEnd()
          .split("\n")
          .map((line) => `- ${line}`),
      ];
  }
}

/** False: the state changed since the check, so nothing was done. Throws `home_unwritable`. */
export async function applyChange(change: Change): Promise<boolean> {
  const { path } = change;
  try {
    switch (change.kind) {
      case "mode":
        if (((await stat(path)).mode & PERMISSIONS) !== change.from) return false;
        await chmod(path, change.to);
        return true;
      case "folder":
        await mkdir(path, { recursive: true });
        return true;
      case "remove":
        return await removeUnchanged(change);
    }
  } catch (cause) {
    if (hasCode(cause, "ENOENT")) return false;
    throw new CortexError("home_unwritable", `Cannot change ${path} (${reasonOf(cause)})`, {
      hint: "Check its owner: only the owner can change it.",
      cause,
    });
  }
}

/** Moves the file away before it checks the content, so that a note of a process that just starts is never removed. */
async function removeUnchanged({ path, content }: Change & { kind: "remove" }): Promise<boolean> {
  if ((await readFile(path, "utf8")) !== content) return false;
  const aside = `${path}.${process.pid}.removed`;
  await rename(path, aside);
  try {
    if ((await readFile(aside, "utf8")) === content) return true;
    await link(aside, path).catch(unless("EEXIST")); // a newer one exists already
    return false;
  } finally {
    await rm(aside, { force: true });
  }
}

function unless(code: string): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (error.code !== code) throw error;
  };
}

function reasonOf(error: unknown): string {
  return codeOf(error) ?? String(error);
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
