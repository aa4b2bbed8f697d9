/** What all tools here have in common: a schema that says and checks what they take, and readable errors. */
import { z } from "zod";

import { CortexError } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import type { Tool, ToolContext, ToolResult } from "../../model/tool.ts";
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

interface ToolDefinition<Schema extends z.ZodObject> extends Pick<
  Tool,
  "name" | "description" | "writes" | "repeatable" | "timeoutMs"
> {
  /** Strict, so that a misspelt parameter is not silently ignored. */
  readonly parameters: Schema;
  run(params: z.output<Schema>, context: ToolContext): Promise<ToolResult>;
}

export function defineTool<Schema extends z.ZodObject>(definition: ToolDefinition<Schema>): Tool {
  const { name, description, writes, repeatable, timeoutMs } = definition;
  const { $schema: _, ...parameters } = z.toJSONSchema(definition.parameters, { io: "input" });
  return {
    name,
    description,
    writes,
    repeatable,
    timeoutMs,
    parameters: parameters as Json,
    async run(input, context) {
      const parsed = definition.parameters.safeParse(input ?? {});
      if (!parsed.success) throw inputInvalid(name, definition.parameters, parsed.error.issues);
      try {
        context.signal.throwIfAborted();
        return { kind: "done", result: await definition.run(parsed.data, context) };
      } catch (error) {
        throw explain(error, { name, path: pathOf(parsed.data), signal: context.signal });
      }
    },
  };
}

function inputInvalid(name: string, schema: z.ZodObject, issues: readonly z.core.$ZodIssue[]): CortexError {
  const problems = issues.map(({ path, message }) =>
    path.length === 0 ? message : `"${z.core.toDotPath(path)}": ${message}`,
  );
  const known = Object.entries(schema.shape).map(([key, field]) =>
    field.safeParse(undefined).success ? `${key} (optional)` : key,
  );
  return new CortexError("tool_input_invalid", `${name} cannot be called like this: ${problems.join("; ")}`, {
    hint: `${name} takes ${known.join(", ")}. Correct the call and make it again.`,
  });
}

interface Circumstances {
  readonly name: string;
  readonly path: string;
  readonly signal: AbortSignal;
}

/** Whoever stops a call may say why with a CortexError as the reason. A mistake of ours stays what it is. */
function explain(error: unknown, { name, path, signal }: Circumstances): unknown {
  if (error instanceof CortexError) return error;
  if (signal.aborted)
    return new CortexError("tool_failed", `${name} was stopped before it was done`, {
      hint: "Make the call again if it is still wanted.",
      cause: error,
    });
  return fileFailure(error, path) ?? error;
}

function pathOf(params: Readonly<Record<string, unknown>>): string {
  return typeof params["path"] === "string" ? params["path"] : ".";
}
