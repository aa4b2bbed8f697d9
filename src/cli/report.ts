import { CortexError } from "../model/errors.ts";
import { asCalled, calledAs } from "./as-called.ts";
import { type Invocation, REFUSES_TO_START } from "../feature/command.ts";
import { harmless } from "../terminal/text.ts";

const FAILED = 1;
const WRONG_USAGE = 2;
const NO_SERVER = 3;

/** The exit codes and what they mean. */
export const EXIT_CODES: readonly (readonly [code: number, means: string])[] = [
  [0, "success"],
  [FAILED, "the command failed, or a check found problems"],
  [WRONG_USAGE, "invalid usage: unknown command, unknown option or invalid value"],
  [NO_SERVER, "no server is running on this home"],
  [REFUSES_TO_START, "the server cannot start until its configuration is fixed; do not retry"],
];

/** Prints an error on two lines: the message and the hint. Returns the exit code. */
export function report(
  error: unknown,
  { verbose, environment }: { verbose: boolean; environment: Invocation["environment"] },
): number {
  const { message, hint } = error instanceof CortexError ? error : unforeseen(error);
  console.error(harmless(`${sentence(message)}\n${asCalled(hint, calledAs(environment))}`));
  if (verbose && error instanceof Error) console.error(error);
  return exitCode(error);
}

function exitCode(error: unknown): number {
  if (!(error instanceof CortexError)) return FAILED;
  if (error.code === "usage") return WRONG_USAGE;
  return error.code === "server_missing" ? NO_SERVER : FAILED;
}

/** Not a CortexError: a bug in Cortex, or a system error. */
function unforeseen(error: unknown): { message: string; hint: string } {
  return {
    message: error instanceof Error ? error.message : String(error),
    hint: "Run it again with --verbose for the stack trace.",
  };
}

function sentence(message: string): string {
  return /[.!?…]$/.test(message) ? message : `${message}.`;
}
