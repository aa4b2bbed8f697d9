import { closeSync, fsyncSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { CortexError } from "../model/errors.ts";
import { createPrivate } from "../model/private-file.ts";

/**
 * Writes the main token to a temporary file and renames it, so that no reader sees half a token. Nothing is awaited in
 * between: two calls in one process share the name of the temporary file.
 */
export function writeMainToken(path: string, token: string): void {
  const draft = `${path}.${process.pid}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = createPrivate(draft);
    try {
      writeFileSync(file, `${token}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (cause) {
    throw new CortexError("home_unwritable", `Cannot write the token ${path}`, {
      hint: "Check the folder's permissions and free disk space.",
      cause,
    });
  }
}
