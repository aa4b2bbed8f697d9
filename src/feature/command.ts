import type { AgentFolder } from "../personas/plugin-pins.ts";
import type { ChannelModule } from "../channels/channel.ts";
import type { Printer } from "../terminal/print.ts";

/** A parsed command line. */
export interface Invocation {
  readonly home: string;
  /** In the order of the usage; several words for one argument are joined. Undefined: not given. */
  readonly args: readonly (string | undefined)[];
  /** All words that are not options. */
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: Printer;
  /** The names of all tools that an agent can have. */
  readonly toolNames: readonly string[];
  /** The folders of all features in which agents work. */
  readonly agentFolders: () => Promise<readonly AgentFolder[]>;
  /** The chat channels, by name, each loaded on use. */
  readonly channelModules: ReadonlyMap<string, () => Promise<ChannelModule>>;
}

/** Runs a command. Undefined: done. False: failed. A number: the exit code. It has printed why. */
export type RunCommand = (given: Invocation) => Promise<void | false | typeof REFUSES_TO_START>;

/**
 * A restart would fail again until something is fixed. EX_CONFIG of sysexits.h: service managers are told not to
 * restart after it.
 */
export const REFUSES_TO_START = 78;

/** The groups of `cortex --help`, in order. */
export const COMMAND_GROUPS = ["Start", "Talk", "Look", "Work", "Team & relay", "Keep", "Set up"] as const;
type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** One command: what commander needs, and how to load the rest. */
export interface Command {
  /** `log <session|turn>`: angle brackets for required arguments, square brackets for optional ones. */
  readonly usage: string;
  /** An imperative of at most eight words, capitalized, without a full stop. */
  readonly about: string;
  /** A sentence or two for the command's own `--help`. */
  readonly details?: string;
  /** Where `cortex --help` lists it; every top-level command has one. */
  readonly group?: CommandGroup;
  readonly options?: readonly (readonly [flags: string, about: string])[];
  /** Shell lines for `--help`. Their ids are well-formed but fictional. */
  readonly examples?: readonly string[];
  /** Absent if it only groups commands. */
  readonly run?: RunCommand;
  readonly commands?: readonly Command[];
}

/** The option of commands that list. */
export const LIMIT = ["--limit <number>", "Maximum number of results"] as const;

/** The options of every command. */
export const GLOBAL_OPTIONS: NonNullable<Command["options"]> = [
  ["--home <folder>", "Home to use (env CORTEX_HOME, default ~/.cortex)"],
  ["--json", "Print JSON: one value, or one per line when streaming"],
  ["--quiet", "Print only the requested data"],
  ["--verbose", "Print the stack trace of an error"],
  ["--no-color", "Disable colors (env NO_COLOR)"],
];

/** The value of an option. */
export function text(given: Invocation, option: string): string | undefined {
  const value = given.options[option];
  return typeof value === "string" ? value : undefined;
}

/** The values of some options, by flag: `{ "team-dir": "~/team" }`. */
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

/** The values of a comma-separated option. */
export function listOf(given: Invocation, option: string): string[] | undefined {
  const parts = text(given, option)?.split(",");
  return parts?.map((part) => part.trim()).filter((part) => part !== "");
}
