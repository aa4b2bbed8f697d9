import { z } from "zod";

import type { Tool } from "../../model/tool.ts";
import { defineFileTool } from "./file-tool.ts";
import { MAX_SHOWN_BYTES, MAX_SHOWN_LINES } from "./output.ts";
import { PROGRAM_LIMITS, type ProgramLimits, runProgram, toolTimeoutMs } from "./run-program.ts";

/** Linux's MAX_ARG_STRLEN is 128 KiB, with the byte that ends a text. */
export const MAX_COMMAND_BYTES = 128 * 1024 - 1;

/**
 * Both outputs go into one pipe, so that they come in the order in which they were written. After `--`, a
 * command that begins with a dash is still a command.
 */
const START_SHELL = `exec 2>&1; command -v bash >/dev/null && exec bash -c -- "$0"; exec sh -c -- "$0"`;

export function createBashTool(limits: ProgramLimits): Tool {
  return defineFileTool({
    name: "Bash",
    description:
      "Runs a command in bash, in the workspace, without input. Gives the end of its output (at most " +
      `${MAX_SHOWN_LINES} lines or ${MAX_SHOWN_BYTES / 1024} KB) and the exit code. When the command ends, what it left ` +
      "in the background is ended too. It may run in a sandbox: without network, and with no files but those of " +
      "the workspace, the allowed folders and the system.",
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
    runsCode: true,
    trust: { untrusted: true, private: true },
    timeoutMs: toolTimeoutMs(limits),
    run: ({ command, timeoutMs = limits.defaultTimeoutMs }, context) =>
      runProgram({ file: "/bin/sh", args: ["-c", START_SHELL, command], timeoutMs }, context, limits),
  });
}

export const bashTool = createBashTool(PROGRAM_LIMITS);
