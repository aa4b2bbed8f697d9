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
  /** The names of all tools that an agent can have. */
  readonly toolNames: readonly string[];
}

/** Carries a command out. Nothing: it is done. False: it has failed, a number: it ends with this; both have said how. */
export type RunCommand = (given: Invocation) => Promise<void | false | typeof REFUSES_TO_START>;

/**
 * Trying again is of no use: somebody has to change something first. It is EX_CONFIG of sysexits.h, which service
 * managers are told not to restart after.
 */
export const REFUSES_TO_START = 78;

/** The groups of `cortex --help`, in the order they are shown. */
export const COMMAND_GROUPS = ["Start", "Talk", "Look", "Work", "Team & relay", "Keep", "Set up"] as const;
type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** One command of the table: what commander needs to know, and how to load the rest. */
export interface Command {
  /** `log <session|turn>`: angles around what must be given, brackets around what may. */
  readonly usage: string;
  /** An imperative of at most eight words, capitalized, without a full stop. */
  readonly about: string;
  /** A sentence or two that only the command's own `--help` shows. */
  readonly details?: string;
  /** Where `cortex --help` lists it; every top-level command has one. */
  readonly group?: CommandGroup;
  readonly options?: readonly (readonly [flags: string, about: string])[];
  /** Lines for a shell, shown by `--help`. Ids in them are of the right form and of nothing. */
  readonly examples?: readonly string[];
  /** Absent where only its commands do something. */
  readonly run?: RunCommand;
  readonly commands?: readonly Command[];
}

/** Of commands that list. */
export const LIMIT = ["--limit <number>", "Maximum number of results"] as const;

/** What every command understands. */
export const GLOBAL_OPTIONS: NonNullable<Command["options"]> = [
  ["--home <folder>", "Home to use (env CORTEX_HOME, default ~/.cortex)"],
  ["--json", "Print JSON: one value, or one per line when streaming"],
  ["--quiet", "Print only the requested data"],
  ["--verbose", "Print the stack trace of an error"],
  ["--no-color", "Disable colors (env NO_COLOR)"],
];

/** An option with a value. */
export function text(given: Invocation, option: string): string | undefined {
  const value = given.options[option];
  return typeof value === "string" ? value : undefined;
}

/** The values that were given for some options, by flag: `{ "team-dir": "~/team" }`. */
export function flagsOf(
  given: Invocation,
  options: NonNullable<Command["options"]>,
): Readonly<Record<string, string>> {
  const flags = options.flatMap(([usage]) => {
    const flag = /--([\w-]+) </.exec(usage)?.[1] ?? "";
    const camelCase = flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()); // as commander names it
    const value = text(given, camelCase);
    return value === undefined ? [] : [[flag, value]];
  });
  return Object.fromEntries(flags);
}

/** An option that holds several, with commas between them. */
export function listOf(given: Invocation, option: string): string[] | undefined {
  const parts = text(given, option)?.split(",");
  return parts?.map((part) => part.trim()).filter((part) => part !== "");
}
