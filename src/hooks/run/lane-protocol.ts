/** What goes back and forth between the pool and a process that runs hooks. */
import type { Json } from "../../model/json.ts";
import type { GuardParts } from "./guard.ts";
import type { HookEvent, HookSelf } from "../hook.ts";

export interface LaneData {
  /** The folder of the hooks: what is imported from here finds the packages of the program too. */
  readonly folder: string;
  readonly dbPath: string | null;
  readonly guard: GuardParts;
}

export interface HookSource {
  readonly name: string;
  readonly path: string;
}

export interface Ask {
  readonly call: number;
  readonly source: HookSource;
  readonly self: Omit<HookSelf, "config">;
  /** Of its schedule, where it is asked because of that. */
  readonly missedMs: number | undefined;
}

export type ToLane =
  /** One event for many hooks: it is copied once. */
  | {
      readonly kind: "judge";
      readonly event: HookEvent;
      readonly nowMs: number;
      /** For schedules that name none, as it is configured now. */
      readonly timezone: string;
      readonly asks: readonly Ask[];
    }
  | { readonly kind: "inspect"; readonly call: number; readonly source: HookSource }
  | { readonly kind: "abort"; readonly call: number }
  | { readonly kind: "answer"; readonly request: number; readonly value: unknown }
  | { readonly kind: "refusal"; readonly request: number; readonly message: string }
  | { readonly kind: "ping" };

export type FromLane =
  | { readonly kind: "ready" }
  | { readonly kind: "pong" }
  /** As JSON, because a hook may return anything. Undefined: it returned nothing. */
  | { readonly kind: "done"; readonly call: number; readonly json: string | undefined }
  | { readonly kind: "failed"; readonly call: number; readonly error: string }
  | { readonly kind: "request"; readonly call: number; readonly request: number; readonly service: Service }
  /** Something that a hook began has failed after its result was given. */
  | { readonly kind: "late"; readonly hook: string | undefined; readonly error: string };

/** What a hook asks of the main process. */
export type Service =
  | { readonly kind: "query"; readonly sql: string; readonly params: readonly unknown[] }
  | { readonly kind: "search"; readonly text: string; readonly options: unknown }
  | { readonly kind: "llm"; readonly prompt: string; readonly options: unknown };

/** What a file says of itself beside its header. */
export interface Facts {
  readonly title?: string;
  readonly description?: string;
  readonly mode?: string;
}

/** What a file exports. */
export interface Exported extends Facts {
  readonly filter?: unknown;
  readonly triggers?: unknown;
}

/** The same, looked at: the triggers are part of the filter, and both are as they will be kept. */
export interface Inspected extends Facts {
  readonly filter?: Json;
  /** What is wrong with the filter. */
  readonly problem?: string;
}
