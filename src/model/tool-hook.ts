/** Programs of the owner that look at tool calls before and after they are made. */
import type { Json } from "./json.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

export interface ToolHooks {
  /** Asks every hook that is for this tool, one after the other: each sees the parameters that the last one left. */
  before(call: HookedCall): Promise<BeforeCall>;
  /** Gives what hooks add to a result. */
  after(call: HookedCall, result: ToolResult): Promise<readonly string[]>;
}

export interface HookedCall {
  readonly tool: string;
  readonly params: Json;
  readonly context: Omit<ToolContext, "sandbox">;
}

export interface BeforeCall {
  /** `allow`: nobody objects. A yes of a hook does not stand for a person's yes. */
  readonly decision: "allow" | "ask" | "deny";
  /** For the model, and for the person who is asked. */
  readonly reason?: string;
  /** As the hooks want the call to be made. */
  readonly params: Json;
  /** For the model to read beside the result. */
  readonly notes: readonly string[];
}

export const NO_TOOL_HOOKS: ToolHooks = {
  before: async ({ params }) => ({ decision: "allow", params, notes: [] }),
  after: async () => [],
};
