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
