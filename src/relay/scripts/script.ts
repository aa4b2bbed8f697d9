/**
 * Relay scripts: programs that are told where a relay stands and may ask for one more step.
 *
 * A script is not ours and may do anything: hang, write without end, leave processes behind, answer nonsense. Nothing of
 * that fails the relay. Whatever does not end as agreed is a value that says what happened.
 */
import { parseScriptAnswer, type ScriptAnswer } from "./script-answer.ts";
import type { RelayScript } from "../templates/snapshot.ts";

/** How a script is run: in a process group of its own, of which nothing is left when the promise resolves. */
export type RunProgram = (program: Program) => Promise<ProgramEnd>;

interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The variables that it is given beside those of every program. */
  readonly env: readonly string[];
  /** What it reads, if it does. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  onOutput(chunk: Buffer): Promise<void>;
  onErrors(chunk: Buffer): Promise<void>;
}

interface ProgramEnd {
  /** Undefined: it was ended by a signal. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly stopped: "timeout" | "aborted" | undefined;
}

/** How much a script may write. One that writes more is ended. */
export const MAX_SCRIPT_OUTPUT_BYTES = 1024 * 1024;
/** How much is kept of what it says of errors: the end. */
export const MAX_SCRIPT_ERROR_BYTES = 2048;

export interface CommandRun {
  readonly script: RelayScript;
  /** The folder that it runs in. */
  readonly home: string;
  readonly context: unknown;
  readonly signal: AbortSignal;
  readonly run: RunProgram;
}

export interface ScriptRun extends CommandRun {
  /** The agents that it may name as a target. */
  readonly slots: readonly string[];
}

export async function runScript({ slots, ...command }: ScriptRun): Promise<ScriptAnswer> {
  const end = await runCommand(command);
  if (end.kind === "failed") return end;
  const answer = parseScriptAnswer(end.output, slots);
  return answer.kind === "failed" ? { kind: "failed", error: withErrors(answer.error, end.errors) } : answer;
}

export type CommandEnd =
  | { readonly kind: "done"; readonly output: string; readonly errors: Buffer }
  | { readonly kind: "failed"; readonly error: string };

/** Runs a script, whatever it may answer. */
export async function runCommand({ script, home, context, signal, run }: CommandRun): Promise<CommandEnd> {
  const tooMuch = new AbortController();
  const output: Buffer[] = [];
  let outputBytes = 0;
  let errors = Buffer.alloc(0);
  try {
    const end = await run({
      file: "sh",
      args: ["-c", `${script.command} "$@"`, "hook", ...script.args],
      folder: home,
      env: script.env ?? [],
      input: JSON.stringify(context),
      timeoutMs: script.timeoutMs,
      signal: AbortSignal.any([signal, tooMuch.signal]),
      async onOutput(chunk) {
        outputBytes += chunk.length;
        if (outputBytes <= MAX_SCRIPT_OUTPUT_BYTES) output.push(chunk);
        else tooMuch.abort();
      },
      async onErrors(chunk) {
        errors = Buffer.concat([errors, chunk]).subarray(-MAX_SCRIPT_ERROR_BYTES);
      },
    });
    const problem =
      outputBytes > MAX_SCRIPT_OUTPUT_BYTES
        ? `It wrote more than ${MAX_SCRIPT_OUTPUT_BYTES} bytes`
        : problemOf(end, script.timeoutMs);
    if (problem !== undefined) return { kind: "failed", error: withErrors(problem, errors) };
    return { kind: "done", output: Buffer.concat(output).toString(), errors };
  } catch (error) {
    return {
      kind: "failed",
      error: `It could not be started: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function problemOf({ exitCode, signal, stopped }: ProgramEnd, timeoutMs: number): string | undefined {
  if (stopped === "timeout") return `It was not done after ${timeoutMs} ms`;
  if (stopped === "aborted") return "It was stopped";
  if (exitCode === 0) return undefined;
  return exitCode === undefined ? `It was ended by ${signal ?? "a signal"}` : `Exit code ${exitCode}`;
}

/** A character that the cut went through is left out. */
function withErrors(problem: string, errors: Buffer): string {
  const tail = errors
    .toString()
    .replace(/^\uFFFD+/, "")
    .trim();
  return tail === "" ? problem : `${problem}\n${tail}`;
}
