/**
 * Starts programs. Nobody else does: only this file imports `child_process`, and `test/tidy.test.ts` holds it to that.
 *
 * A program inherits nothing from us. Whoever starts one says which variables it has, and takes them from
 * `environment.ts`; docs/security.md lists all programs with theirs.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, fork, spawn } from "node:child_process";

import { ownEnvironment } from "./environment.ts";

export type { ChildProcess, ChildProcessWithoutNullStreams };

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  /** All the variables that it has. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where it starts. Absent: where we are. */
  readonly folder?: string;
}

type Stream = "ignore" | "pipe" | "inherit" | number;

/** In a process group of its own, so that it can be ended with all that it has started. */
export function launch(
  program: Program,
  streams: readonly [input: Stream, output: Stream, errors: Stream],
): ChildProcess {
  return spawn(program.file, program.args, { ...optionsOf(program), stdio: [...streams] });
}

/** The same, where we write its input and read all that it says. */
export function launchPiped(program: Program): ChildProcessWithoutNullStreams {
  return spawn(program.file, program.args, { ...optionsOf(program), stdio: "pipe" });
}

interface Module {
  readonly path: string;
  readonly args: readonly string[];
  /** Beside those that all processes of our own have. */
  readonly variables?: Readonly<Record<string, string>>;
  /** For Node. Those that we were started with are not passed on. */
  readonly flags?: readonly string[];
  readonly output: "ignore" | "inherit";
}

/** A module of ours in a process of its own, but in our process group, that is sent messages. */
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
