/** The page of all commands, from the table that the command line is made of. */
import { type CommandEntry, GLOBAL_OPTIONS } from "../../src/feature/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { EXIT_CODES } from "../../src/cli/report.ts";
import { code, plain, sentence, table } from "./markdown.ts";

const HEAD = `# Commands

Every command with its options, as \`cortex help\` and \`--help\` tell them. In a clone, \`npx cortex\` is \`cortex\`. Angles stand
around what must be given, brackets around what may; dots mean that several words are fine. An id in an example is of the
right form, and of nothing.`;

export function cliReference(): string {
  return [
    HEAD,
    "## What every command understands",
    optionTable(GLOBAL_OPTIONS),
    "## How a command ends",
    "Data goes to standard output, everything else to standard error.",
    table(
      ["exit code", "means"],
      EXIT_CODES.map(([exitCode, means]) => [code(String(exitCode)), plain(means)]),
    ),
    ...COMMANDS.flatMap((entry) => describe(entry, "cortex", 2)),
    "",
  ].join("\n\n");
}

function describe(entry: CommandEntry, parent: string, level: number): string[] {
  const { usage, about, options = [], examples = [], commands = [] } = entry;
  const name = `${parent} ${usage.split(" ")[0]}`;
  const given = options.length === 0 ? "" : " [options]";
  const usages = [
    ...(entry.run === undefined ? [] : [`${parent} ${usage}${given}`]),
    ...commands.map((inner) => `${name} ${inner.usage}`),
  ];
  return [
    `${"#".repeat(level)} ${code(name)}`,
    sentence(plain(about)),
    fenced("text", usages),
    ...(options.length === 0 ? [] : [optionTable(options)]),
    ...(examples.length === 0 ? [] : [fenced("sh", examples)]),
    ...commands.flatMap((inner) => describe(inner, name, level + 1)),
  ];
}

function optionTable(options: NonNullable<CommandEntry["options"]>): string {
  return table(
    ["option", "what it does"],
    options.map(([flags, about]) => [code(flags), plain(about)]),
  );
}

function fenced(language: string, lines: readonly string[]): string {
  return ["```" + language, ...lines, "```"].join("\n");
}
