/** Runs a program for a tool, in the sandbox where there is one, and says what became of it. */
import type { ToolContext, ToolResult } from "../../model/tool.ts";
import { CommandOutput, type ShownOutput } from "./command-output.ts";
import { type GroupEnd, runGroup } from "../../programs/run-group.ts";
import { inSandbox } from "./sandbox.ts";

export interface ProgramLimits {
  readonly defaultTimeoutMs: number;
  readonly maxTimeoutMs: number;
  /** How long a command has between being told to end and being killed. */
  readonly graceMs: number;
  /** How long what a command left in the background may still write. */
  readonly drainMs: number;
  readonly maxFileBytes: number;
}

export const PROGRAM_LIMITS: ProgramLimits = {
  defaultTimeoutMs: 120_000,
  maxTimeoutMs: 600_000,
  graceMs: 2000,
  drainMs: 250,
  maxFileBytes: 64 * 1024 * 1024,
};

/** For the tool: the program's own timeout comes first, because it says more. */
export function toolTimeoutMs({ maxTimeoutMs, graceMs, drainMs }: ProgramLimits): number {
  return maxTimeoutMs + 2 * graceMs + 2 * drainMs;
}

interface Started {
  readonly file: string;
  readonly args: readonly string[];
  readonly timeoutMs: number;
  /** Files beside those of the system that it needs. */
  readonly needs?: readonly string[];
}

export async function runProgram(
  { file, args, timeoutMs, needs = [] }: Started,
  context: ToolContext,
  { graceMs, drainMs, maxFileBytes }: ProgramLimits,
): Promise<ToolResult> {
  const { workspace: folder, environment } = context;
  const program = await inSandbox({ file, args, folder, environment, needs }, context, { drainMs });
  await using _ = program.guard;
  await using output = new CommandOutput(context, maxFileBytes);
  const end = await runGroup({
    ...program,
    signal: context.signal,
    timeoutMs,
    graceMs,
    drainMs,
    onOutput: (chunk) => output.append(chunk),
  });
  const shown = await output.finish();
  const notes = [...outputNotes(shown), endNote(end, timeoutMs)].flatMap((note) =>
    note === undefined ? [] : `[${note}]`,
  );
  const text = shown.text === "" ? "(no output)" : shown.text;
  return {
    text: notes.length === 0 ? text : `${text}\n\n${notes.join("\n")}`,
    isError: end.exitCode !== 0 || end.stopped !== undefined,
    details: {
      exitCode: end.exitCode ?? null,
      signal: end.signal ?? null,
      stopped: end.stopped ?? null,
      outputBytes: shown.bytes,
      outputFile: shown.file ?? null,
    },
  };
}

function outputNotes({ bytes, file, flaw }: ShownOutput): string[] {
  const notes: string[] = [];
  if (file !== undefined) notes.push(`This is the end of ${bytes} bytes of output, which are in ${file}`);
  if (flaw !== undefined) notes.push(flaw);
  return notes;
}

function endNote({ exitCode, signal, stopped }: GroupEnd, timeoutMs: number): string | undefined {
  if (stopped === "timeout") return `Stopped: it was not done after ${timeoutMs} ms`;
  if (stopped === "aborted") return "Stopped: the call was aborted";
  if (signal !== undefined) return `Ended by ${signal}`;
  return exitCode === 0 ? undefined : `Exit code ${exitCode}`;
}
