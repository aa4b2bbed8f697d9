/** `data/server.json`: where the command line finds the server that runs. */
import { rename, rm } from "node:fs/promises";

import { CortexError } from "../model/errors.ts";
import { readPrivate, writePrivate } from "../model/private-file.ts";

interface ServerNote {
  readonly pid: number;
  readonly startedAt: string;
  readonly host: string;
  readonly port: number;
}

/** Written beside and moved into place: nobody reads half of it. */
export async function writeNote(path: string, note: ServerNote): Promise<void> {
  const draft = `${path}.${note.pid}.new`;
  try {
    writePrivate(draft, `${JSON.stringify(note)}\n`);
    await rename(draft, path);
  } catch (cause) {
    throw new CortexError("home_unwritable", `The file ${path} cannot be written`, {
      hint: "Check the permissions of the folder, and whether there is room on the disk.",
      cause,
    });
  }
}

/** Removes the note where it is still this one: another server may have written its own since. */
export async function removeNote(path: string, note: ServerNote): Promise<void> {
  if (readNote(path).trim() === JSON.stringify(note)) await rm(path, { force: true });
}

function readNote(path: string): string {
  try {
    return readPrivate(path);
  } catch {
    return ""; // somebody has removed it
  }
}
