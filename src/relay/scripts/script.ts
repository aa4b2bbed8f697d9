/**
 * Relay scripts: programs that receive the state of a relay and may request one more step.
 *
 * A script is not ours and may do anything: hang, write endless output, leave processes behind, answer nonsense. None of
 * that fails the relay: every failure is a value with its reason.
 */
import { MARK_PROCESS } from "../../programs/shell-limits.ts";
import { parseScriptAnswer, type ScriptAnswer } from "./script-answer.ts";
import type { RelayScript } from "../templates/snapshot.ts";

/** Runs a script in its own process group, which is gone when the promise resolves. */
export type RunProgram = (program: Program) => Promise<ProgramEnd>;

interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** Environment variables it gets in addition to those of every program. */
  readonly env: readonly string[];
  /** Its standard input. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  onOutput(chunk: Buffer): Promise<void>;
  onErrors(chunk: Buffer): Promise<void>;
}

interface ProgramEnd {
  /** Undefined: a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly stopped: "timeout" | "aborted" | undefined;
}

/** A script that writes more is stopped. */
export const MAX_SCRIPT_OUTPUT_BYTES = 1024 * 1024;
/** How much of the end of its standard error is kept. */
export const MAX_SCRIPT_ERROR_BYTES = 2048;

interface CommandRun {
  readonly script: RelayScript;
  /** The folder it runs in. */
  readonly home: string;
  readonly context: unknown;
  readonly signal: AbortSignal;
  readonly run: RunProgram;
}

interface ScriptRun extends CommandRun {
  /** The agents it may target. */
  readonly slots: readonly string[];
}

export async function runScript({ slots, ...command }: ScriptRun): Promise<ScriptAnswer> {
  const end = await runCommand(command);
  if (end.kind === "failed") return end;
  const answer = parseScriptAnswer(end.output, slots);
  return answer.kind === "failed" ? { kind: "failed", error: withErrors(answer.error, end.errors) } : answer;
}

type CommandEnd =
  | { readonly kind: "done"; readonly output: string; readonly errors: Buffer }
  | { readonly kind: "failed"; readonly error: string };

/** Runs a script without interpreting its output. */
export async function runCommand({ script, home, context, signal, run }: CommandRun): Promise<CommandEnd> {
  const tooMuch = new AbortController();
  const output: Buffer[] = [];
  let outputBytes = 0;
  let errors = Buffer.alloc(0);
  try {
    const end = await run({
      file: "sh",
      args: ["-c", `${MARK_PROCESS}${script.command} "$@"`, "hook", ...script.args],
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
        ? `Output exceeded ${MAX_SCRIPT_OUTPUT_BYTES} bytes`
        : problemOf(end, script.timeoutMs);
    if (problem !== undefined) return { kind: "failed", error: withErrors(problem, errors) };
    return { kind: "done", output: Buffer.concat(output).toString(), errors };
  } catch (error) {
    return {
      kind: "failed",
      error: `Failed to start: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function problemOf({ exitCode, signal, stopped }: ProgramEnd, timeoutMs: number): string | undefined {
  if (stopped === "timeout") return `Timed out after ${timeoutMs} ms`;
  if (stopped === "aborted") return "Stopped";
  if (exitCode === 0) return undefined;
  return exitCode === undefined ? `Killed by ${signal ?? "a signal"}` : `Exit code ${exitCode}`;
}

/** Drops a character that was cut in half. */
function withErrors(problem: string, errors: Buffer): string {
  const tail = errors
    .toString()
    .replace(/^\uFFFD+/, "")
    .trim();
  return tail === "" ? problem : `${problem}\n${tail}`;
}
