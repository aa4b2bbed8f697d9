import type { Printer } from "../terminal/print.ts";

/** A command as it was asked for. */
export interface Invocation {
  readonly home: string;
  /** In the order in which the command names them; several words for one are joined. Absent: not given. */
  readonly args: readonly (string | undefined)[];
  /** All words that are no options, as they came. */
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: Printer;
}

/** Carries a command out. Nothing: it is done. False: it has failed, a number: it ends with this; both have said how. */
export type Run = (given: Invocation) => Promise<void | false | typeof REFUSES_TO_START>;

/**
 * Trying again is of no use: somebody has to change something first. It is EX_CONFIG of sysexits.h, which service
 * managers are told not to restart after.
 */
export const REFUSES_TO_START = 78;

/** One line of the table of commands: what commander has to know, and where the rest is. */
export interface CommandEntry {
  /** `log <session|turn>`: angles around what must be given, brackets around what may. */
  readonly usage: string;
  readonly about: string;
  readonly options?: readonly (readonly [flags: string, about: string])[];
  /** Lines for a shell, shown by `--help`. Ids in them are of the right form and of nothing. */
  readonly examples?: readonly string[];
  /** Absent where only its commands do something. */
  readonly run?: Run;
  readonly commands?: readonly CommandEntry[];
}

/** Of commands that list. */
export const LIMIT = ["--limit <number>", "at most so many"] as const;

/** What every command understands. */
export const GLOBAL_OPTIONS: NonNullable<CommandEntry["options"]> = [
  ["--home <folder>", "the home to work on (CORTEX_HOME, ~/.cortex)"],
  ["--json", "data as JSON: one value, or one a line where a list goes on"],
  ["--quiet", "say only what was asked for"],
  ["--verbose", "with an error, say where it came from"],
  ["--no-color", "no colours (NO_COLOR)"],
];

/** An option with a value. */
export function text(given: Invocation, option: string): string | undefined {
  const value = given.options[option];
  return typeof value === "string" ? value : undefined;
}

/** An option that holds several, with commas between them. */
export function listOf(given: Invocation, option: string): string[] | undefined {
  const parts = text(given, option)?.split(",");
  return parts?.map((part) => part.trim()).filter((part) => part !== "");
}
