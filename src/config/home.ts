import { mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { codeOf } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";

/** The folder that holds everything of one Cortex: `CORTEX_HOME`, or `.cortex` in the user's home. */
export function findHome(environment: Readonly<Record<string, string | undefined>>): string {
  const named = environment["CORTEX_HOME"];
  return named === undefined || named === "" ? join(homedir(), ".cortex") : resolve(named);
}

/** What Cortex itself runs, obeys and keeps. No agent works here, whatever is configured. */
const RESERVED = ["channels", "config", "data", "hooks", "logs", "plugins", "prompts", "relays", "skills"];

export function reservedFolders(home: string): string[] {
  return RESERVED.map((name) => join(home, name));
}

/** Conversations are private to their owner. */
export const OWNER_ONLY = 0o700;

/** Throws `home_unwritable` if the home or one of its parents is a file. */
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

/** Creates the base folders of a home. Throws `home_unwritable`. */
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

/** Recursive. Node's own recursive mkdir never ends where the system answers ENOENT, as in /proc. */
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

/** The token that the owner's programs send to the server. */
export function tokenPath(home: string): string {
  return join(home, "data", "token");
}

/** The address of the running server. */
export function serverNotePath(home: string): string {
  return join(home, "data", "server.json");
}

/** The input history of `cortex chat`. */
export function chatHistoryPath(home: string): string {
  return join(home, "data", "chat-history");
}

/** The logs of the server. */
export function logFolder(home: string): string {
  return join(home, "logs");
}

/** Attachments of events, each under the hash of its content. */
export function attachmentsFolder(home: string): string {
  return join(home, "data", "attachments");
}

/** Tool output that is too long for a model. Its agent can read it. */
export function toolOutputPath(home: string, agent: string): string {
  return join(home, "tmp", "output", agent);
}
