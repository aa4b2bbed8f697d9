import { z } from "zod";

import type { Tool } from "../../model/tool.ts";
import { defineFileTool } from "./file-tool.ts";
import { namedPrograms } from "./named-programs.ts";
import { MAX_SHOWN_BYTES, MAX_SHOWN_LINES } from "./output.ts";
import { PROGRAM_LIMITS, type ProgramLimits, runProgram, toolTimeoutMs } from "./run-program.ts";

/** Linux's MAX_ARG_STRLEN is 128 KiB, including the terminating NUL byte. */
export const MAX_COMMAND_BYTES = 128 * 1024 - 1;

/**
 * Output and errors go into one pipe, so they arrive in the order in which they were written. The `--` allows commands that
 * start with a dash.
 */
const START_SHELL = `exec 2>&1; command -v bash >/dev/null && exec bash -c -- "$0"; exec sh -c -- "$0"`;

export function createBashTool(limits: ProgramLimits): Tool {
  return defineFileTool({
    name: "Bash",
    description:
      "Runs a command in bash, in the workspace, without input. Returns the end of its output (at most " +
      `${MAX_SHOWN_LINES} lines or ${MAX_SHOWN_BYTES / 1024} KB) and the exit code. When the command exits, its ` +
      "background processes are killed. It may run in a sandbox without network, where only the workspace, the " +
      "allowed folders and the system's files exist.",
    parameters: z.strictObject({
      command: z
        .string()
        .min(1)
        .refine((command) => !command.includes("\0"), "contains a NUL byte")
        .refine(
          (command) => Buffer.byteLength(command) <= MAX_COMMAND_BYTES,
          `is longer than ${MAX_COMMAND_BYTES} bytes: write it to a file and run the file`,
        ),
      timeoutMs: z
        .int()
        .min(1)
        .max(limits.maxTimeoutMs)
        .optional()
        .describe(`Timeout in milliseconds (default: ${limits.defaultTimeoutMs})`),
    }),
    writes: true,
    repeatable: false,
    runsCode: true,
    trust: { untrusted: true, private: true },
    labels: true,
    timeoutMs: toolTimeoutMs(limits),
    proposal: async ({ command }, context) => ({ files: await namedPrograms(command, context) }),
    run: ({ command, timeoutMs = limits.defaultTimeoutMs }, context) =>
      runProgram({ script: START_SHELL, args: [command], timeoutMs }, context, limits),
  });
}

export const bashTool = createBashTool(PROGRAM_LIMITS);
