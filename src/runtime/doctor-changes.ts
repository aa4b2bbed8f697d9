/**
 * What the doctor would change, and changing it. Only what cannot lose anything: who may read a file, a folder that
 * is named and not there, a note that a process which is gone left behind. Files of configuration are for people.
 */
import { chmod, mkdir, readFile, rm, stat } from "node:fs/promises";

import { CortexError } from "../model/errors.ts";

export type Change =
  | { readonly kind: "mode"; readonly path: string; readonly from: number; readonly to: number }
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "remove"; readonly path: string; readonly content: string };

/** The permissions in a mode, without what kind of file it is. */
const PERMISSIONS = 0o7777;

export function changeMode(path: string, mode: number, { without }: { without: number }): Change {
  const from = mode & PERMISSIONS;
  return { kind: "mode", path, from, to: from & ~without };
}

/** As lines of a diff. */
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

/** False: it is not as it was when it was looked at, so nothing is done. Throws `home_unwritable`. */
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
        if ((await readFile(path, "utf8")) !== change.content) return false;
        await rm(path);
        return true;
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw new CortexError("home_unwritable", `${path} cannot be changed (${codeOf(cause)})`, {
      hint: "Check who owns it: only its owner can change it.",
      cause,
    });
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
