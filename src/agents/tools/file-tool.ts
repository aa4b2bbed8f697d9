/** What the tools here have in common: troubles with files are told in words that help. */
import { z } from "zod";

import { defineTool, type ToolDefinition } from "../../model/define-tool.ts";
import type { Tool } from "../../model/tool.ts";
import { MAX_PATH_LENGTH } from "./confine.ts";
import { CortexError } from "../../model/errors.ts";

/** Enough for whatever a file tool does on a slow disk. */
export const FILE_TIMEOUT_MS = 60_000;

/** For `path` parameters. */
export const pathParameter = z
  .string()
  .min(1)
  .max(MAX_PATH_LENGTH)
  .describe("Relative to the workspace, or absolute");

export function defineFileTool<Schema extends z.ZodObject>(definition: ToolDefinition<Schema>): Tool {
  return defineTool({
    ...definition,
    async run(params, context) {
      try {
        return await definition.run(params, context);
      } catch (error) {
        if (context.signal.aborted) throw error;
        throw fileFailure(error, pathOf(params)) ?? error;
      }
    },
  });
}

function pathOf(params: Readonly<Record<string, unknown>>): string {
  return typeof params["path"] === "string" ? params["path"] : ".";
}

interface Words {
  readonly message: string;
  readonly hint: string;
}

const LOOK_FIRST = "List or Glob shows what there is.";

const KNOWN: Readonly<Record<string, Words>> = {
  EACCES: { message: "permission is denied", hint: "Use a file that this agent may read or write." },
  EEXIST: { message: "something else is there already", hint: LOOK_FIRST },
  EISDIR: { message: "it is a folder", hint: "Give the path of a file; List shows what is in the folder." },
  ELOOP: { message: "a link took its place while it was used", hint: "Try again." },
  ENAMETOOLONG: { message: "the name is too long", hint: "Choose a shorter name." },
  ENOENT: { message: "there is no such file or folder", hint: LOOK_FIRST },
  ENOSPC: { message: "the disk is full", hint: "Delete what is not needed, or tell the user." },
  ENOTDIR: { message: "a part of the path is not a folder", hint: LOOK_FIRST },
  EPERM: { message: "the system does not allow it", hint: "Use another file." },
  EROFS: { message: "the disk is read-only", hint: "Write to another folder." },
};

/** Undefined for what is no trouble of the system: such an error is a mistake of ours. */
export function fileFailure(error: unknown, path: string): CortexError | undefined {
  if (!isSystemError(error)) return undefined;
  const { message, hint } = KNOWN[error.code] ?? { message: error.code, hint: LOOK_FIRST };
  return new CortexError("tool_failed", `${JSON.stringify(path)} cannot be used: ${message}`, {
    hint,
    cause: error,
  });
}

function isSystemError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string";
}
