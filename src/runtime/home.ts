import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** The folder in which everything of one Cortex lives: `CORTEX_HOME`, or `.cortex` in the user's home. */
export function findHome(environment: Readonly<Record<string, string | undefined>>): string {
  const named = environment["CORTEX_HOME"];
  return named === undefined || named === "" ? join(homedir(), ".cortex") : resolve(named);
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

/** What was too long for a model is kept here, where its agent can read it. */
export function toolOutputPath(home: string, agent: string): string {
  return join(home, "tmp", "output", agent);
}
