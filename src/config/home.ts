import { mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { codeOf } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";

/** The folder in which everything of one Cortex lives: `CORTEX_HOME`, or `.cortex` in the user's home. */
export function findHome(environment: Readonly<Record<string, string | undefined>>): string {
  const named = environment["CORTEX_HOME"];
  return named === undefined || named === "" ? join(homedir(), ".cortex") : resolve(named);
}

/** What was said is for nobody else on this machine. */
export const OWNER_ONLY = 0o700;

/** Throws `home_unwritable` where the home, or what is to hold it, is a file. */
export function refuseFile(home: string): void {
  for (let path = home; path !== dirname(path); path = dirname(path)) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) return;
    if (stats === undefined) continue;
    throw new CortexError("home_unwritable", `Cannot create the home ${home}: ${path} is a file`, {
      hint: "Choose another home with --home or CORTEX_HOME, or move that file.",
    });
  }
}

/** Makes the folders of a home that everything else lies in. Throws `home_unwritable`. */
export function makeHome(home: string): void {
  refuseFile(home);
  try {
    makeFolder(home, OWNER_ONLY);
    for (const folder of [dirname(databasePath(home)), logFolder(home)]) makeFolder(folder, OWNER_ONLY);
  } catch (cause) {
    throw new CortexError("home_unwritable", `Cannot create the home ${home}`, {
      hint: "Check the permissions of its parent folder, or choose another home with --home or CORTEX_HOME.",
      cause,
    });
  }
}

/** With those above it. Node's own way to do so tries for ever where the system refuses with ENOENT, as in /proc. */
export function makeFolder(path: string, mode?: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    mkdirSync(path, { mode });
  }
}

export function databasePath(home: string): string {
  return join(home, "data", "cortex.db");
}

/** The secret that the owner's programs show to the server. */
export function tokenPath(home: string): string {
  return join(home, "data", "token");
}

/** Where a running server says how to reach it. */
export function serverNotePath(home: string): string {
  return join(home, "data", "server.json");
}

/** What was typed in `cortex chat`. */
export function chatHistoryPath(home: string): string {
  return join(home, "data", "chat-history");
}

/** What a server says while it runs. */
export function logFolder(home: string): string {
  return join(home, "logs");
}

/** What came with events, each file under the hash of its content. */
export function attachmentsFolder(home: string): string {
  return join(home, "data", "attachments");
}

/** What was too long for a model is kept here, where its agent can read it. */
export function toolOutputPath(home: string, agent: string): string {
  return join(home, "tmp", "output", agent);
}
