/** What the tools here have in common: troubles with files are told in words that help. */
import { z } from "zod";

import { defineTool as define, type ToolDefinition } from "../../model/define-tool.ts";
import type { Tool } from "../../model/tool.ts";
import { MAX_PATH_LENGTH } from "./confine.ts";
import { fileFailure } from "./file-failure.ts";

/** Enough for whatever a file tool does on a slow disk. */
export const FILE_TIMEOUT_MS = 60_000;

/** For `path` parameters. */
export const pathParameter = z
  .string()
  .min(1)
  .max(MAX_PATH_LENGTH)
  .describe("Relative to the workspace, or absolute");

export function defineTool<Schema extends z.ZodObject>(definition: ToolDefinition<Schema>): Tool {
  return define({
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
