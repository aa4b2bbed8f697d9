/** The places on a command line at which something can be completed: one for each command, with what can follow it. */
import { type Command, GLOBAL_OPTIONS } from "../feature/command.ts";

export interface CommandPlace {
  /** The words that lead here: `cortex hooks show`. */
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
  /** Absent: it stands alone. */
  readonly value?: "file" | "folder" | "other";
}

export function placesOf(commands: readonly Command[]): CommandPlace[] {
  const help = {
    usage: "help [command]",
    about: "show how a command is used",
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

const HELP = ["--help", "Show help for a command"] as const;

function nameOf(usage: string): string {
  return usage.split(" ")[0]!;
}

/** `--home <folder>`: what it is called, and what comes after it. */
function optionOf(flags: string, about: string): Option {
  const [, name, value] = /(--[\w-]+)(?: <(.*)>)?$/.exec(flags)!;
  const named = { name: name!, about };
  if (value === undefined) return named;
  return { ...named, value: value === "file" || value === "folder" ? value : "other" };
}

/** What takes somebody from one place to another: `cortex hooks`, and `show` after it. */
export function stepsOf(places: readonly CommandPlace[]): string[] {
  return places.map(({ path }) => path).filter((path) => path.includes(" "));
}

/** What the next word is the value of: `cortex up --port`, of this kind. */
export function valuesOf(places: readonly CommandPlace[], kind: NonNullable<Option["value"]>): string[] {
  return places.flatMap(({ path, options }) =>
    options.filter(({ value }) => value === kind).map(({ name }) => `${path} ${name}`),
  );
}

/** As one word of a shell: all three read single quotes the same way, and leave a quote out of them. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
