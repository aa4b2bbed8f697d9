/** `data/server.json`: the address of the running server, for the command line. */
import { rename, rm } from "node:fs/promises";

import { CortexError } from "../model/errors.ts";
import { readPrivate, writePrivate } from "../model/private-file.ts";

interface ServerNote {
  readonly pid: number;
  readonly startedAt: string;
  readonly host: string;
  readonly port: number;
}

/** Written to a temporary file and renamed, so that no reader sees half of it. */
export async function writeNote(path: string, note: ServerNote): Promise<void> {
  const draft = `${path}.${note.pid}.new`;
  try {
    writePrivate(draft, `${JSON.stringify(note)}\n`);
    await rename(draft, path);
  } catch (cause) {
    throw new CortexError("home_unwritable", `Cannot write ${path}`, {
      hint: "Check the folder's permissions and free disk space.",
      cause,
    });
  }
}

/** Removes the note unless another server has written its own since. */
export async function removeNote(path: string, note: ServerNote): Promise<void> {
  if (readNote(path).trim() === JSON.stringify(note)) await rm(path, { force: true });
}

function readNote(path: string): string {
  try {
    return readPrivate(path);
  } catch {
    return ""; // already removed
  }
}
