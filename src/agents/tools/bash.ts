import { z } from "zod";

import type { Tool, ToolContext, ToolResult } from "../../model/tool.ts";
import { CommandOutput, type ShownOutput } from "./command-output.ts";
import { defineTool } from "./define.ts";
import { MAX_SHOWN_BYTES, MAX_SHOWN_LINES } from "./output.ts";
import { type GroupEnd, runGroup } from "./process-group.ts";

interface BashLimits {
  readonly defaultTimeoutMs: number;
  readonly maxTimeoutMs: number;
  /** How long a command has between being told to end and being killed. */
  readonly graceMs: number;
  /** How long what a command left in the background may still write. */
  readonly drainMs: number;
  readonly maxFileBytes: number;
}

export const BASH_LIMITS: BashLimits = {
  defaultTimeoutMs: 120_000,
  maxTimeoutMs: 600_000,
  graceMs: 2000,
  drainMs: 250,
  maxFileBytes: 64 * 1024 * 1024,
};

/** Linux's MAX_ARG_STRLEN is 128 KiB, with the byte that ends a text. */
export const MAX_COMMAND_BYTES = 128 * 1024 - 1;

/**
 * Both outputs go into one pipe, so that they come in the order in which they were written. After `--`, a
 * command that begins with a dash is still a command.
 */
const START_SHELL = `exec 2>&1; command -v bash >/dev/null && exec bash -c -- "$0"; exec sh -c -- "$0"`;

export function createBashTool(limits: BashLimits): Tool {
  return defineTool({
    name: "Bash",
    description:
      "Runs a command in bash, in the workspace, without input. Gives the end of its output (at most " +
      `${MAX_SHOWN_LINES} lines or ${MAX_SHOWN_BYTES / 1024} KB) and the exit code. When the command ends, what it left ` +
      "in the background is ended too.",
    parameters: z.strictObject({
      command: z
        .string()
        .min(1)
        .refine((command) => !command.includes("\0"), "holds a NUL byte")
        .refine(
          (command) => Buffer.byteLength(command) <= MAX_COMMAND_BYTES,
          `is longer than ${MAX_COMMAND_BYTES} bytes: write it to a file and run that`,
        ),
      timeoutMs: z
        .int()
        .min(1)
        .max(limits.maxTimeoutMs)
        .optional()
        .describe(`Milliseconds after which it is stopped; ${limits.defaultTimeoutMs} if left out`),
    }),
    writes: true,
    repeatable: false,
    // The command's own timeout comes first: it says more.
    timeoutMs: limits.maxTimeoutMs + 2 * limits.graceMs + 2 * limits.drainMs,
    run: ({ command, timeoutMs = limits.defaultTimeoutMs }, context) =>
      runCommand(command, timeoutMs, context, limits),
  });
}

export const bashTool = createBashTool(BASH_LIMITS);

async function runCommand(
  command: string,
  timeoutMs: number,
  context: ToolContext,
  { graceMs, drainMs, maxFileBytes }: BashLimits,
): Promise<ToolResult> {
  await using output = new CommandOutput(context, maxFileBytes);
  const end = await runGroup({
    file: "/bin/sh",
    args: ["-c", START_SHELL, command],
    folder: context.workspace,
    environment: context.environment,
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
