/** Makes commander's program from the table of commands, and its complaints into ours. */
import { Command, CommanderError } from "commander";

import { CortexError } from "../model/errors.ts";
import { findHome } from "../runtime/home.ts";
import { type CommandEntry, GLOBAL_OPTIONS, type Invocation, type Run } from "./command.ts";
import { createPrinter, type Printer } from "./print.ts";
import { report } from "./report.ts";

interface Asked {
  readonly argv: readonly string[];
  readonly environment: Invocation["environment"];
  /** Absent: the terminal's, as the arguments want it. */
  readonly print?: Printer;
}

/** Runs what the arguments ask for. Returns the exit code. */
export async function runCommandLine(entries: readonly CommandEntry[], asked: Asked): Promise<number> {
  const { argv } = asked;
  try {
    return await carryOut(entries, asked);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0; // help was asked for, and given
    return report(error, { verbose: argv.includes("--verbose") });
  }
}

/** The same for other commands: what goes wrong is thrown. */
export async function carryOut(
  entries: readonly CommandEntry[],
  { argv, environment, print }: Asked,
): Promise<number> {
  let exitCode = 0;
  const program = buildProgram(entries, async (run, given) => {
    const outcome = await run({
      ...invocation(given, environment),
      ...(print === undefined ? {} : { print }),
    });
    exitCode = typeof outcome === "number" ? outcome : outcome === false ? 1 : 0;
  });
  if (argv.length === 0) program.outputHelp();
  else await program.parseAsync(argv, { from: "user" });
  return exitCode;
}

type Given = Pick<Invocation, "args" | "words" | "options">;
type Act = (run: Run, given: Given) => Promise<void>;

function buildProgram(entries: readonly CommandEntry[], act: Act): Command {
  const program = new Command("cortex")
    .description("A durable switchboard for AI agents.")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeErr: () => {} });
  for (const [flags, about] of GLOBAL_OPTIONS) program.option(flags, about);
  refuseInOurWords(program);
  for (const entry of entries) addCommand(program, entry, act);
  return program;
}

function addCommand(parent: Command, entry: CommandEntry, act: Act): void {
  const command = parent.command(entry.usage).description(entry.about);
  refuseInOurWords(command);
  for (const [flags, about] of entry.options ?? []) command.option(flags, about);
  for (const inner of entry.commands ?? []) addCommand(command, inner, act);
  if (entry.examples !== undefined) command.addHelpText("after", describeExamples(entry.examples));
  const { run } = entry;
  if (run === undefined) return;
  command.action(async () => {
    const args = command.processedArgs.map((arg: string | string[] | undefined) =>
      Array.isArray(arg) ? (arg.length === 0 ? undefined : arg.join(" ")) : arg,
    );
    await act(run, { args, words: command.args, options: command.optsWithGlobals() });
  });
}

function describeExamples(examples: readonly string[]): string {
  return ["", "Examples:", ...examples.map((line) => `  ${line}`)].join("\n");
}

function invocation(given: Given, environment: Invocation["environment"]): Invocation {
  const { home, json, quiet, color } = given.options;
  return {
    ...given,
    home: findHome(typeof home === "string" ? { CORTEX_HOME: home } : environment),
    environment,
    print: createPrinter({ json: json === true, quiet: quiet === true, color: color !== false }),
  };
}

function refuseInOurWords(command: Command): void {
  command.exitOverride((error) => {
    throw error.exitCode === 0 ? error : wrongUsage(error.message, commandPath(command));
  });
}

/** commander writes `error: unknown option '--sesion'` and, on a line of its own, `(Did you mean --session?)`. */
function wrongUsage(complaint: string, path: string): CortexError {
  const [, what = "no command was named", guess] =
    /^error: ([^\n]*)(?:\n\(Did you mean (.*)\?\))?$/.exec(complaint) ?? [];
  const unknown = /^unknown command '(.*)'$/.exec(what)?.[1];
  const message = unknown === undefined ? capital(what) : `There is no command "${unknown}"`;
  const advice =
    unknown === undefined ? `\`${path} --help\` shows how it is used.` : "`cortex help` lists the commands.";
  const hint = guess === undefined ? advice : `Did you mean ${guess}? ${advice}`;
  return new CortexError("usage", message, { hint });
}

function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
