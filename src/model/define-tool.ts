/** What tools have in common: a schema that says and checks what they take, and readable errors. */
import { z } from "zod";

import { CortexError } from "./errors.ts";
import type { Json } from "./json.ts";
import type { Proposal, Said, Tool, ToolContext, ToolOutcome, ToolResult } from "./tool.ts";
import type { Label } from "./trust.ts";

/** A result, or that it comes later. */
type Answer = ToolResult | Extract<ToolOutcome, { readonly kind: "suspend" }>;

export interface ToolDefinition<Schema extends z.ZodObject> extends Omit<
  Tool,
  "asksForOthers" | "parameters" | "proposal" | "run" | "runsProgram" | "says" | "sends"
> {
  /** Strict, so that a misspelt parameter is not silently ignored. */
  readonly parameters: Schema;
  readonly asksForOthers?:
    | string
    | ((params: z.output<Schema>, context: ToolContext) => Promise<string | undefined>)
    | undefined;
  proposal?(params: z.output<Schema>, context: ToolContext): Promise<Proposal | undefined>;
  runsProgram?(params: z.output<Schema>): boolean;
  says?(params: z.output<Schema>): Said | undefined;
  sends?(params: z.output<Schema>, context: ToolContext): Promise<Label | undefined>;
  run(params: z.output<Schema>, context: ToolContext): Promise<Answer>;
}

export function defineTool<Schema extends z.ZodObject>(definition: ToolDefinition<Schema>): Tool {
  const { asksForOthers, parameters: schema } = definition;
  const { $schema: _, ...parameters } = z.toJSONSchema(definition.parameters, { io: "input" });
  return {
    ...definition,
    parameters: parameters as Json,
    asksForOthers:
      typeof asksForOthers === "function"
        ? async (input, context) => {
            const parsed = schema.safeParse(input ?? {});
            return parsed.success ? asksForOthers(parsed.data, context) : undefined;
          }
        : asksForOthers,
    async proposal(input, context) {
      const parsed = schema.safeParse(input ?? {});
      return parsed.success ? definition.proposal?.(parsed.data, context) : undefined;
    },
    runsProgram(input) {
      const parsed = schema.safeParse(input ?? {});
      return parsed.success && definition.runsProgram?.(parsed.data) === true;
    },
    says(input) {
      const parsed = schema.safeParse(input ?? {});
      return parsed.success ? definition.says?.(parsed.data) : undefined;
    },
    async sends(input, context) {
      const parsed = schema.safeParse(input ?? {});
      return parsed.success ? definition.sends?.(parsed.data, context) : undefined;
    },
    async run(input, context) {
      const parsed = definition.parameters.safeParse(input ?? {});
      if (!parsed.success) throw inputInvalid(definition, parsed.error.issues);
      try {
        context.signal.throwIfAborted();
        const answer = await definition.run(parsed.data, context);
        return "kind" in answer ? answer : { kind: "done", result: answer };
      } catch (error) {
        throw explain(error, definition.name, context.signal);
      }
    },
  };
}

function inputInvalid<Schema extends z.ZodObject>(
  { name, parameters }: Pick<ToolDefinition<Schema>, "name" | "parameters">,
  issues: readonly z.core.$ZodIssue[],
): CortexError {
  const problems = issues.map(({ path, message }) =>
    path.length === 0 ? message : `"${z.core.toDotPath(path)}": ${message}`,
  );
  const known = Object.entries(parameters.shape).map(([key, field]) =>
    (field as z.ZodType).safeParse(undefined).success ? `${key} (optional)` : key,
  );
  return new CortexError("tool_input_invalid", `Invalid arguments for ${name}: ${problems.join("; ")}`, {
    hint: `${name} takes ${known.join(", ")}. Fix the arguments and call it again.`,
  });
}

/** Whoever stops a call may say why with a CortexError as the reason. A mistake of ours stays what it is. */
function explain(error: unknown, name: string, signal: AbortSignal): unknown {
  if (error instanceof CortexError || !signal.aborted) return error;
  return new CortexError("tool_failed", `${name} was stopped before it finished`, {
    hint: "Call it again if still needed.",
    cause: error,
  });
}
