/** The points on a command line that can be completed: one per command, with the words that can follow it. */
import { type Command, GLOBAL_OPTIONS } from "../feature/command.ts";

export interface CommandPlace {
  /** The command path: `cortex hooks show`. */
  readonly path: string;
  readonly commands: readonly CommandWord[];
  readonly options: readonly Option[];
  /** Whether its arguments are files. */
  readonly takesFiles: boolean;
}

export interface CommandWord {
  readonly name: string;
  readonly about: string;
}

interface Option extends CommandWord {
  /** Absent: it takes no value. */
  readonly value?: "file" | "folder" | "other";
}

const HELP_ABOUT = "Show help for a command";

export function placesOf(commands: readonly Command[]): CommandPlace[] {
  const help = {
    usage: "help [command]",
    about: HELP_ABOUT,
    commands: commands.map(({ usage, about }) => ({ usage: nameOf(usage), about })),
  };
  return placesBelow("cortex", { usage: "cortex", about: "", commands: [...commands, help] });
}

function placesBelow(path: string, entry: Command): CommandPlace[] {
  const { usage, options = [], commands = [] } = entry;
  return [
    {
      path,
      commands: commands.map(({ usage, about }) => ({ name: nameOf(usage), about })),
      options: [...options, ...GLOBAL_OPTIONS, HELP].map(([flags, about]) => optionOf(flags, about)),
      takesFiles: /[<[]file\b/.test(usage),
    },
    ...commands.flatMap((inner) => placesBelow(`${path} ${nameOf(inner.usage)}`, inner)),
  ];
}

const HELP = ["--help", HELP_ABOUT] as const;

function nameOf(usage: string): string {
  return usage.replace(/ .*/, "");
}

/** Parses `--home <folder>`. */
function optionOf(flags: string, about: string): Option {
  const [, name = "", value] = /(--[\w-]+)(?: <(.*)>)?$/.exec(flags) ?? [];
  const named = { name, about };
  if (value === undefined) return named;
  return { ...named, value: value === "file" || value === "folder" ? value : "other" };
}

/** The paths of all commands below `cortex`, such as `cortex hooks show`. */
export function stepsOf(places: readonly CommandPlace[]): string[] {
  return places.map(({ path }) => path).filter((path) => path.includes(" "));
}

/** The options whose value is of this kind, with their path: `cortex up --port`. */
export function valuesOf(places: readonly CommandPlace[], kind: NonNullable<Option["value"]>): string[] {
  return places.flatMap(({ path, options }) =>
    options.filter(({ value }) => value === kind).map(({ name }) => `${path} ${name}`),
  );
}

/** Quotes a shell word. All three shells treat single quotes alike, and a quote cannot appear inside them. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
