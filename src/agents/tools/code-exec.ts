import { z } from "zod";

import type { Tool } from "../../model/tool.ts";
import { defineFileTool } from "./file-tool.ts";
import { namedPrograms } from "./named-programs.ts";
import { MAX_SHOWN_BYTES, MAX_SHOWN_LINES } from "./output.ts";
import { PROGRAM_LIMITS, type ProgramLimits, runProgram, toolTimeoutMs } from "./run-program.ts";

/** Together with its prefix, below Linux's limit for one argument, 128 KiB. */
export const MAX_CODE_BYTES = 120 * 1024;

const LANGUAGES = ["javascript", "typescript", "python", "bash"] as const;
type Language = (typeof LANGUAGES)[number];

/** Output and errors go into one pipe, so they arrive in the order in which they were written. */
const START = `exec 2>&1
command -v "$0" >/dev/null || { echo "$0 is not on the PATH: this language is not available here."; exit 127; }
exec "$0" "$@"`;

interface CodeExecOptions {
  /** The absolute path of Node's executable. */
  readonly node: string;
  readonly limits?: ProgramLimits;
}

export function createCodeExecTool({ node, limits = PROGRAM_LIMITS }: CodeExecOptions): Tool {
  return defineFileTool({
    name: "CodeExec",
    description:
      "Runs a program in the workspace, without input. Print the results you need: it returns the end of the output " +
      `(at most ${MAX_SHOWN_LINES} lines or ${MAX_SHOWN_BYTES / 1024} KB) and the exit code. No state survives the call. ` +
      "JavaScript and TypeScript run on Node, with import, require and top-level await. Runs in the same sandbox as Bash.",
    parameters: z.strictObject({
      language: z.enum(LANGUAGES),
      code: z
        .string()
        .min(1)
        .refine((code) => !code.includes("\0"), "contains a NUL byte")
        .refine(
          (code) => Buffer.byteLength(code) <= MAX_CODE_BYTES,
          `is longer than ${MAX_CODE_BYTES} bytes: write it to a file and run the file with Bash`,
        ),
    }),
    writes: true,
    repeatable: false,
    runsCode: true,
    trust: { untrusted: true, private: true },
    labels: true,
    timeoutMs: toolTimeoutMs({ ...limits, maxTimeoutMs: limits.defaultTimeoutMs }),
    proposal: async ({ code }, context) => ({ files: await namedPrograms(code, context) }),
    run: ({ language, code }, context) =>
      runProgram(
        {
          script: START,
          args: programFor(language, code, node),
          timeoutMs: limits.defaultTimeoutMs,
          ...(isForNode(language) ? { needs: [node] } : {}),
        },
        context,
        limits,
      ),
  });
}

function isForNode(language: Language): boolean {
  return language === "javascript" || language === "typescript";
}

/** All of them accept code that starts with a dash. Node detects module systems and types itself. */
function programFor(language: Language, code: string, node: string): readonly string[] {
  switch (language) {
    case "javascript":
    case "typescript":
      return [node, "--disable-warning=ExperimentalWarning", `--eval=${code}`];
    case "python":
      return ["python3", "-u", "-c", code];
    case "bash":
      return ["bash", "-c", "--", code];
  }
}
