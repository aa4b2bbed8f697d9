/** Builds commander's program from the table of commands and turns its errors into ours. */
import { type Argument, Command as Commander, CommanderError } from "commander";

import { CortexError } from "../model/errors.ts";
import { nearest } from "../model/nearest.ts";
import { findHome } from "../config/home.ts";
import {
  COMMAND_GROUPS,
  type Command,
  GLOBAL_OPTIONS,
  type Invocation,
  type RunCommand,
} from "../feature/command.ts";
import { agentFoldersOf, channelModulesOf, FEATURES, TOOL_NAMES } from "../runtime/features.ts";
import { asCalled, calledAs } from "./as-called.ts";
import { createPrinter, type Printer } from "../terminal/print.ts";
import { report } from "./report.ts";

interface CommandLine {
  readonly argv: readonly string[];
  readonly environment: Invocation["environment"];
  /** Absent: prints to the terminal, as the arguments configure it. */
  readonly print?: Printer;
}

/** Runs the command that the arguments name. Returns the exit code. */
export async function runCommandLine(entries: readonly Command[], commandLine: CommandLine): Promise<number> {
  const { argv, environment } = commandLine;
  try {
    return await executeCommandLine(entries, commandLine);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0; // help was requested and shown
    return report(error, { verbose: argv.includes("--verbose"), environment });
  }
}

/** Like `runCommandLine`, but throws errors instead of reporting them. */
export async function executeCommandLine(
  entries: readonly Command[],
  { argv, environment, print }: CommandLine,
): Promise<number> {
  let exitCode = 0;
  const act: Act = async (run, given) => {
    const outcome = await run({
      ...invocation(given, environment),
      ...(print === undefined ? {} : { print }),
    });
    exitCode = typeof outcome === "number" ? outcome : outcome === false ? 1 : 0;
  };
  const program = buildProgram(entries, { argv, act });
  if (argv.length === 0) program.outputHelp();
  else await program.parseAsync(argv, { from: "user" });
  return exitCode;
}

type Given = Pick<Invocation, "args" | "words" | "options">;
type Act = (run: RunCommand, given: Given) => Promise<void>;

interface Parsing {
  readonly argv: readonly string[];
  readonly act: Act;
}

function buildProgram(entries: readonly Command[], parsing: Parsing): Commander {
  const program: Commander = new Commander("cortex")
    .description("A durable switchboard for AI agents.")
    .configureHelp({
      showGlobalOptions: true,
      // Almost every command has options; repeating [options] on each line would only widen the list.
      subcommandTerm: (command) =>
        [command.name(), ...command.registeredArguments.map(argumentTerm)].join(" "),
      // Only the program's own options are global, not those of a parent command.
      visibleGlobalOptions: ({ parent }) => (parent === null ? [] : [...program.options]),
    })
    .configureOutput({ writeErr: () => {} });
  for (const [flags, about] of GLOBAL_OPTIONS) program.option(flags, about);
  refuseInOurWords(program);
  // commander would show the program's help and ignore the unknown word.
  program.addHelpText("beforeAll", ({ command }) => {
    const unknown = unknownWord(command);
    if (unknown !== undefined) throw commandUnknown(unknown, command);
    return "";
  });
  program.helpOption("-h, --help", HELP);
  program.commandsGroup("Set up:").helpCommand("help [command]", HELP);
  for (const entry of byGroup(entries)) addCommand(program, entry, parsing);
  return program;
}

const HELP = "Show help for a command";

/** commander shows groups in the order in which it meets them. */
function byGroup(entries: readonly Command[]): readonly Command[] {
  return entries.toSorted((a, b) => rank(a) - rank(b));
}

function rank({ group }: Command): number {
  return group === undefined ? Infinity : COMMAND_GROUPS.indexOf(group);
}

function argumentTerm(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}

function addCommand(parent: Commander, entry: Command, parsing: Parsing): void {
  const command = parent.command(entry.usage).summary(entry.about);
  if (entry.group !== undefined) command.helpGroup(`${entry.group}:`);
  if (!parsing.argv.includes(command.name())) return; // it is only listed
  command.description(entry.details === undefined ? entry.about : `${entry.about}. ${entry.details}`);
  command.helpOption("-h, --help", HELP);
  if (entry.run === undefined) command.helpCommand("help [command]", HELP);
  refuseInOurWords(command);
  command.enablePositionalOptions(); // options after the name of an inner command belong to that command
  for (const [flags, about] of entry.options ?? []) command.option(flags, about);
  for (const inner of entry.commands ?? []) addCommand(command, inner, parsing);
  if (entry.examples !== undefined) command.addHelpText("after", describeExamples(entry.examples));
  const { run } = entry;
  if (run === undefined) return;
  command.action(async () => {
    checkOuterOptions(command);
    const args = command.processedArgs.map((arg: string | string[] | undefined) =>
      Array.isArray(arg) ? (arg.length === 0 ? undefined : arg.join(" ")) : arg,
    );
    await parsing.act(run, { args, words: command.args, options: command.optsWithGlobals() });
  });
}

/** Rejects an option of the parent command that this one does not have: `cortex relay --running cancel`. */
function checkOuterOptions(command: Commander): void {
  const outer = command.parent;
  if (outer === null || outer.parent === null) return;
  const own = new Set(command.options.map(({ long }) => long));
  const stray = outer.options.find(
    (option) => !own.has(option.long) && outer.getOptionValue(option.attributeName()) !== undefined,
  );
  if (stray === undefined) return;
  const path = commandPath(command);
  throw refusal(
    `${stray.long} is an option of \`${commandPath(outer)}\`, not of \`${path}\``,
    `Run \`${path} --help\` for usage.`,
  );
}

function describeExamples(examples: readonly string[]): string {
  return ["", "Examples:", ...examples.map((line) => `  ${line}`)].join("\n");
}

function invocation(given: Given, environment: Invocation["environment"]): Invocation {
  const { home: named, json, quiet, color } = given.options;
  const home = findHome(typeof named === "string" ? { CORTEX_HOME: named } : environment);
  return {
    ...given,
    home,
    environment,
    toolNames: TOOL_NAMES,
    agentFolders: () => agentFoldersOf(FEATURES, { home, environment }),
    channelModules: channelModulesOf(FEATURES),
    print: createPrinter({
      json: json === true,
      quiet: quiet === true,
      color: color !== false,
      inWords: (advice) => asCalled(advice, calledAs(environment)),
    }),
  };
}

function refuseInOurWords(command: Commander): void {
  command.exitOverride((error) => {
    throw error.exitCode === 0 ? error : wrongUsage(error, command);
  });
}

/** commander writes `error: unknown option '--sesion'` and, on a line of its own, `(Did you mean --session?)`. */
function wrongUsage({ code, message }: CommanderError, command: Commander): CortexError {
  const unknown = unknownWord(command);
  if (unknown !== undefined) return commandUnknown(unknown, command);
  const path = commandPath(command);
  const advice = `Run \`${path} --help\` for usage.`;
  const [, what = `Missing command after \`${path}\``, guess] =
    /^error: ([^\n]*)(?:\n\(Did you mean (.*)\?\))?$/.exec(message) ?? [];
  if (code === "commander.excessArguments")
    return refusal(`Unexpected argument "${command.args[command.registeredArguments.length]}"`, advice);
  const isEarly = code === "commander.unknownOption" && command.parent === null;
  const place = isEarly ? "Put a command's options after its name. " : "";
  return refusal(capital(what), guess === undefined ? place + advice : `Did you mean ${guess}? ${advice}`);
}

/** The word in the place of a subcommand, if no subcommand has that name. */
function unknownWord({ commands, args }: Commander): string | undefined {
  const word = args[0] === "help" ? args[1] : args[0];
  if (commands.length === 0 || word === undefined || word.startsWith("-")) return undefined;
  return commands.some((inner) => inner.name() === word) ? undefined : word;
}

/** Planned commands: these words are not typos. */
const PLANNED: ReadonlySet<string> = new Set(["acp", "channels", "export", "import", "mcp", "route"]);

function commandUnknown(word: string, command: Commander): CortexError {
  const isFirst = command.parent === null;
  const path = commandPath(command);
  const list = `Run \`${isFirst ? "cortex help" : `${path} --help`}\` to list commands.`;
  if (isFirst && PLANNED.has(word))
    return refusal(`Command "${word}" is not available yet`, `It is planned for a later version. ${list}`);
  const guess = nearest(
    word,
    command.commands.map((inner) => inner.name()),
  );
  const message = `Unknown command "${isFirst ? word : `${path.replace(/^cortex /, "")} ${word}`}"`;
  return refusal(message, guess === undefined ? list : `Did you mean \`${path} ${guess}\`? ${list}`);
}

function refusal(message: string, hint: string): CortexError {
  return new CortexError("usage", message, { hint });
}

function commandPath(command: Commander): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
