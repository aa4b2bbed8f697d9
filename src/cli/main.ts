/** The command line. A command is imported when it is asked for, so that `--help` loads nothing else. */
import { CortexError } from "../model/errors.ts";

interface Command {
  readonly about: string;
  readonly load: () => Promise<{ run(args: readonly string[]): Promise<number> }>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  up: { about: "start Cortex on its home and keep it running", load: () => import("./up.ts") },
  verify: { about: "check the hash of every turn in the ledger", load: () => import("./verify.ts") },
  version: { about: "say which Cortex and which Node this is", load: () => import("./version.ts") },
};

process.exitCode = await main(process.argv.slice(2));

async function main([name = "help", ...args]: readonly string[]): Promise<number> {
  if (name === "help" || name === "--help" || name === "-h") return help();
  const word = name === "--version" || name === "-v" ? "version" : name;
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  try {
    if (command === undefined) throw commandUnknown(name);
    return await (await command.load()).run(args);
  } catch (error) {
    return report(error);
  }
}

function help(): number {
  const lines = Object.entries(COMMANDS).map(([name, { about }]) => `  ${name.padEnd(10)}${about}`);
  console.log(
    ["Usage: cortex <command>", "", ...lines, "", "CORTEX_HOME names the home (~/.cortex)."].join("\n"),
  );
  return 0;
}

/** 2 for a command that was not understood, 1 for one that failed. */
function report(error: unknown): number {
  if (!(error instanceof CortexError)) throw error;
  console.error(`${error.message}.\n${error.hint}`);
  return error.code === "usage" ? 2 : 1;
}

function commandUnknown(name: string): CortexError {
  return new CortexError("usage", `There is no command "${name}"`, {
    hint: "`cortex help` lists the commands.",
  });
}
