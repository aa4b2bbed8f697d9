/**
 * Tools that use files: the system's errors are turned into messages that help a model to continue, and what writes needs
 * room in the quotas.
 */
import { z } from "zod";

import { defineTool, type ToolDefinition } from "../../model/define-tool.ts";
import type { Tool, ToolContext, ToolResult } from "../../model/tool.ts";
import { joinLabels, type Label } from "../../model/trust.ts";
import { MAX_PATH_LENGTH } from "./confine.ts";
import { CortexError } from "../../model/errors.ts";

/** Enough for any file operation on a slow disk. */
export const FILE_TIMEOUT_MS = 60_000;

/** For `path` parameters. */
export const pathParameter = z
  .string()
  .min(1)
  .max(MAX_PATH_LENGTH)
  .describe("Relative to the workspace, or absolute");

export function defineFileTool<Schema extends z.ZodObject>(definition: ToolDefinition<Schema>): Tool {
  const { asksForOthers } = definition;
  return defineTool({
    ...definition,
    async run(params, context) {
      return explained(
        async () => {
          if (definition.writes) await context.bounds?.checkDisk();
          return definition.run(params, context);
        },
        params,
        context,
      );
    },
    asksForOthers:
      typeof asksForOthers === "function"
        ? async (params, context) => explained(() => asksForOthers(params, context), params, context)
        : asksForOthers,
    async proposal(params, context) {
      return explained(async () => definition.proposal?.(params, context), params, context);
    },
  });
}

/** A result with the label of the files that it tells of, before and after they are read: they may change meanwhile. */
export async function labelled(
  look: () => Promise<Label> | undefined,
  read: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const before = await look();
  const result = await read();
  const after = await look();
  return before === undefined || after === undefined
    ? result
    : { ...result, label: joinLabels(before, after) };
}

async function explained<Result>(
  act: () => Promise<Result>,
  params: Readonly<Record<string, unknown>>,
  { signal }: ToolContext,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (signal.aborted) throw error;
    throw fileFailure(error, pathOf(params)) ?? error;
  }
}

function pathOf(params: Readonly<Record<string, unknown>>): string {
  return typeof params["path"] === "string" ? params["path"] : ".";
}

const LOOK_FIRST = "Use List or Glob to see which files exist.";

const KNOWN: Readonly<Record<string, { readonly message: string; readonly hint: string }>> = {
  EACCES: { message: "permission denied", hint: "Choose a file this agent can access." },
  EEXIST: { message: "it already exists", hint: LOOK_FIRST },
  EISDIR: { message: "it is a folder", hint: "Pass a file path; List shows a folder's files." },
  ELOOP: { message: "it was replaced by a link during the call", hint: "Try again." },
  ENAMETOOLONG: { message: "the name is too long", hint: "Choose a shorter name." },
  ENOENT: { message: "no such file or folder", hint: LOOK_FIRST },
  ENOSPC: { message: "the disk is full", hint: "Delete unneeded files, or tell the user." },
  ENOTDIR: { message: "part of the path is not a folder", hint: LOOK_FIRST },
  EPERM: { message: "operation not permitted", hint: "Use another file." },
  EROFS: { message: "the disk is read-only", hint: "Write to another folder." },
};

/** Undefined if it is not a system error: then it is a bug of ours. */
export function fileFailure(error: unknown, path: string): CortexError | undefined {
  if (!isSystemError(error)) return undefined;
  const { message, hint } = KNOWN[error.code] ?? { message: error.code, hint: LOOK_FIRST };
  return new CortexError("tool_failed", `Cannot use ${JSON.stringify(path)}: ${message}`, {
    hint,
    cause: error,
  });
}

function isSystemError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string";
}
