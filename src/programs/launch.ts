/**
 * Starts programs. This is the only file that imports `child_process`; `test/tidy.test.ts` checks that.
 *
 * A program inherits no environment from us. The caller passes its variables, built in `environment.ts`; docs/security.md
 * lists all programs with theirs.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, fork, spawn } from "node:child_process";

import { ownEnvironment } from "./environment.ts";

export type { ChildProcess, ChildProcessWithoutNullStreams };

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  /** All of its variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Its working directory. Absent: ours. */
  readonly folder?: string;
}

type Stream = "ignore" | "pipe" | "inherit" | number;

/** Starts a program in its own process group, so that it can be killed together with its children. */
export function launch(
  program: Program,
  streams: readonly [input: Stream, output: Stream, errors: Stream],
): ChildProcess {
  return spawn(program.file, program.args, { ...optionsOf(program), stdio: [...streams] });
}

/** The same, with pipes for its input, output and errors. */
export function launchPiped(program: Program): ChildProcessWithoutNullStreams {
  return spawn(program.file, program.args, { ...optionsOf(program), stdio: "pipe" });
}

interface Module {
  readonly path: string;
  readonly args: readonly string[];
  /** In addition to those of all our own processes. */
  readonly variables?: Readonly<Record<string, string>>;
  /** For Node. Our own flags are not passed on. */
  readonly flags?: readonly string[];
  readonly output: "ignore" | "inherit";
}

/** Starts one of our modules in its own process, within our process group, with a message channel. */
export function launchModule({ path, args, variables = {}, flags = [], output }: Module): ChildProcess {
  return fork(path, args, {
    serialization: "advanced",
    stdio: ["ignore", output, "inherit", "ipc"],
    execArgv: [...flags],
    env: { ...ownEnvironment(process.env), ...variables },
  });
}

function optionsOf({ environment, folder }: Program) {
  return { detached: true, env: { ...environment }, ...(folder === undefined ? {} : { cwd: folder }) };
}
