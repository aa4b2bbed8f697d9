import { CortexError } from "../model/errors.ts";
import { asCalled, calledAs } from "./as-called.ts";
import { type Invocation, REFUSES_TO_START } from "../feature/command.ts";
import { harmless } from "../terminal/text.ts";

const FAILED = 1;
const WRONG_USAGE = 2;
const NO_SERVER = 3;

/** What a command can end with, and what that means. */
export const EXIT_CODES: readonly (readonly [code: number, means: string])[] = [
  [0, "it is done"],
  [FAILED, "it could not be done, or what was looked at is not as it should be"],
  [WRONG_USAGE, "it was not understood: a command, an option or a value that there is not"],
  [NO_SERVER, "no server runs on this home"],
  [REFUSES_TO_START, "the server does not start like this, and trying again is of no use"],
];

/** Says what went wrong: one line of what happened, one of what to do. Returns the exit code. */
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

/** Not an error of ours: a mistake in Cortex, or something that the system refused. */
function unforeseen(error: unknown): { message: string; hint: string } {
  return {
    message: error instanceof Error ? error.message : String(error),
    hint: "Run it again with --verbose to see where this comes from.",
  };
}

function sentence(message: string): string {
  return /[.!?…]$/.test(message) ? message : `${message}.`;
}
