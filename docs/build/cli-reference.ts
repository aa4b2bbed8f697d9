/** Generates the command reference from the table of commands. */
import { type Command, GLOBAL_OPTIONS } from "../../src/feature/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { EXIT_CODES } from "../../src/cli/report.ts";
import { code, plain, sentence, table } from "./markdown.ts";

const HEAD = `# Commands

Every command and its options, as printed by \`cortex help\` and \`--help\`. In a clone, run \`npx cortex\` instead of \`cortex\`.
\`<angle brackets>\` mark required arguments, \`[square brackets]\` optional ones, and \`...\` means several words. Ids in examples
are placeholders.`;

export function cliReference(): string {
  return [
    HEAD,
    "## Global options",
    optionTable(GLOBAL_OPTIONS),
    "## Exit codes",
    "Data goes to standard output, everything else to standard error.",
    table(
      ["exit code", "meaning"],
      EXIT_CODES.map(([exitCode, means]) => [code(String(exitCode)), plain(means)]),
    ),
    ...COMMANDS.flatMap((entry) => describe(entry, "cortex", 2)),
    "",
  ].join("\n\n");
}

function describe(entry: Command, parent: string, level: number): string[] {
  const { usage, about, details, options = [], examples = [], commands = [] } = entry;
  const name = `${parent} ${usage.split(" ")[0]}`;
  const given = options.length === 0 ? "" : " [options]";
  const usages = [
    ...(entry.run === undefined ? [] : [`${parent} ${usage}${given}`]),
    ...commands.map((inner) => `${name} ${inner.usage}`),
  ];
  return [
    `${"#".repeat(level)} ${code(name)}`,
    plain([sentence(about), details].filter((part) => part !== undefined).join(" ")),
    fenced("text", usages),
    ...(options.length === 0 ? [] : [optionTable(options)]),
    ...(examples.length === 0 ? [] : [fenced("sh", examples)]),
    ...commands.flatMap((inner) => describe(inner, name, level + 1)),
  ];
}

function optionTable(options: NonNullable<Command["options"]>): string {
  return table(
    ["option", "description"],
    options.map(([flags, about]) => [code(flags), plain(about)]),
  );
}

function fenced(language: string, lines: readonly string[]): string {
  return ["```" + language, ...lines, "```"].join("\n");
}
