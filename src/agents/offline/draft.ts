import type { Json } from "../../model/json.ts";
import type { CallBlock } from "../../model/message.ts";

/** What the model is about to say and wants done. */
export interface Draft {
  readonly text: string;
  readonly calls: readonly CallBlock[];
}

export interface WantedCall {
  readonly tool: string;
  readonly args: Json;
}

/** How deep the arguments of a call may be nested: they are stored as part of a message that is nested too. */
export const MAX_ARGUMENTS_DEPTH = 100;
export const MAX_CALLS = 32;
