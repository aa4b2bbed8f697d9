/** Runs a program for a tool, in the sandbox if there is one, and reports its result. */
import type { ResourceLimits } from "../../model/bounds.ts";
import type { ToolContext, ToolResult } from "../../model/tool.ts";
import type { Label } from "../../model/trust.ts";
import { CommandOutput, type ShownOutput } from "./command-output.ts";
import { type GroupEnd, runGroup } from "../../programs/run-group.ts";
import { limitIn, shellLimits } from "../../programs/shell-limits.ts";
import { inSandbox, MEMORY_FOLDERS } from "./sandbox.ts";

export interface ProgramLimits {
  readonly defaultTimeoutMs: number;
  readonly maxTimeoutMs: number;
  /** The time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** How long background processes of a command may still write. */
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

/** Longer than the program's own timeout, whose message says more. */
export function toolTimeoutMs({ maxTimeoutMs, graceMs, drainMs }: ProgramLimits): number {
  return maxTimeoutMs + 2 * graceMs + 2 * drainMs;
}

interface ToolProgram {
  /** For `sh`, with its arguments from `$0` on. */
  readonly script: string;
  readonly args: readonly string[];
  readonly timeoutMs: number;
  /** Files it needs in addition to those of the system. */
  readonly needs?: readonly string[];
}

export async function runProgram(
  { script, args: values, timeoutMs, needs = [] }: ToolProgram,
  context: ToolContext,
  { graceMs, drainMs, maxFileBytes }: ProgramLimits,
): Promise<ToolResult> {
  const { workspace: folder, environment, bounds, sandbox } = context;
  const limited = bounds === undefined ? script : shellLimits(bounds.limits) + script;
  const args = ["-c", limited, ...values];
  const program = await inSandbox({ file: "/bin/sh", args, folder, environment, needs }, context, {
    drainMs,
  });
  await using _ = program.guard;
  await using output = new CommandOutput(context, maxFileBytes);
  const run = (): Promise<GroupEnd> =>
    runGroup({
      ...program,
      watch: bounds?.watch(sandbox === undefined ? [] : MEMORY_FOLDERS),
      signal: context.signal,
      timeoutMs,
      graceMs,
      drainMs,
      onOutput: (chunk) => output.append(chunk),
    });
  const reads = await readableLabel(context);
  const folders = [context.workspace, ...context.roots];
  const isConfined = sandbox !== undefined;
  const end = await (reads === undefined || context.labels === undefined
    ? run()
    : context.labels.run({ folders, label: reads, isConfined }, run));
  const shown = await output.finish();
  const notes = [...outputNotes(shown), ...endNotes(end, timeoutMs, bounds?.limits)].map(
    (note) => `[${note}]`,
  );
  const text = shown.text === "" ? "(no output)" : shown.text;
  return {
    text: notes.length === 0 ? text : `${text}\n\n${notes.join("\n")}`,
    isError: end.exitCode !== 0 || end.stopped !== undefined,
    details: {
      exitCode: end.exitCode ?? null,
      signal: end.signal ?? null,
      stopped: end.limit === undefined ? (end.stopped ?? null) : "limit",
      outputBytes: shown.bytes,
      outputFile: shown.file ?? null,
    },
    ...(reads !== undefined && isConfined ? { label: reads } : {}),
  };
}

/** What a program in the sandbox can read; of one that is not confined, what lies in its folders. */
async function readableLabel({
  labels,
  workspace,
  roots,
  outputFolder,
  readable,
}: ToolContext): Promise<Label | undefined> {
  return labels?.ofFolders([workspace, ...roots, outputFolder, ...readable]);
}

function outputNotes({ bytes, file, flaw }: ShownOutput): string[] {
  const notes: string[] = [];
  if (file !== undefined)
    notes.push(`Truncated to the end of ${bytes} bytes of output. The full output is in ${file}`);
  if (flaw !== undefined) notes.push(flaw);
  return notes;
}

function endNotes(end: GroupEnd, timeoutMs: number, limits: ResourceLimits | undefined): string[] {
  const { exitCode, signal, stopped, limit = limits && limitIn(end, limits) } = end;
  if (stopped === "timeout") return [`Timed out after ${timeoutMs} ms`];
  if (stopped === "aborted") return ["Stopped: the call was aborted"];
  if (limit !== undefined) return [limit];
  if (signal !== undefined) return [`Killed by ${signal}`];
  return exitCode === 0 ? [] : [`Exit code ${exitCode}`];
}
