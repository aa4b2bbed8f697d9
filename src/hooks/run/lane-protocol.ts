/** The messages between the pool and a process that runs hooks. */
import type { Json } from "../../model/json.ts";
import type { GuardOrders } from "./guard.ts";
import type { HookEvent, HookSelf } from "../hook.ts";

export interface LaneData {
  /** The hooks folder: imports from here also find the packages of the program. */
  readonly folder: string;
  readonly dbPath: string | null;
  readonly guard: GuardOrders;
}

export interface HookSource {
  readonly name: string;
  readonly path: string;
}

export interface Ask {
  readonly call: number;
  readonly source: HookSource;
  readonly self: Omit<HookSelf, "config">;
  /** The missed time of its schedule that it is asked about, if any. */
  readonly missedMs: number | undefined;
}

export type ToLane =
  /** One event for many hooks, copied once. */
  | {
      readonly kind: "judge";
      readonly event: HookEvent;
      readonly nowMs: number;
      /** The configured one, for schedules without their own. */
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
  /** JSON, because a hook may return anything. Undefined: it returned nothing. */
  | { readonly kind: "done"; readonly call: number; readonly json: string | undefined }
  | { readonly kind: "failed"; readonly call: number; readonly error: string }
  | {
      readonly kind: "request";
      readonly call: number;
      readonly request: number;
      readonly service: ServiceCall;
    }
  /** Something a hook started failed after the hook had returned. */
  | { readonly kind: "late"; readonly hook: string | undefined; readonly error: string };

/** A request of a hook to the main process. */
export type ServiceCall =
  | { readonly kind: "query"; readonly sql: string; readonly params: readonly unknown[] }
  | { readonly kind: "search"; readonly text: string; readonly options: unknown }
  | { readonly kind: "llm"; readonly prompt: string; readonly options: unknown };

/** A file's exports about itself, in addition to its header. */
export interface HookFacts {
  readonly title?: string;
  readonly description?: string;
  readonly mode?: string;
}

/** The relevant exports of a file. */
export interface HookExports extends HookFacts {
  readonly filter?: unknown;
  readonly triggers?: unknown;
}

/** The exports as they will be stored, with the triggers merged into the filter. */
export interface HookInspection extends HookFacts {
  readonly filter?: Json;
  /** Why the filter is invalid. */
  readonly problem?: string;
}
