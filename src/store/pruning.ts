import type { Principal } from "../model/principal.ts";

/** How much can be pruned. */
export type Prunable = Readonly<Record<PruneKind, number>> & {
  /** Approximate size of the content. */
  readonly bytes: number;
};

/** In the order they are pruned. */
export const PRUNE_KINDS = ["turns", "events", "deliveries", "approvals", "relays"] as const;
export type PruneKind = (typeof PRUNE_KINDS)[number];

export interface PruneRequest {
  /** Prune only what is older than this. */
  readonly beforeMs: number;
  /** `next` of the previous step. */
  readonly after?: number | undefined;
  /** Only what was said on the authority of these, and what was answered. Absent: everybody. */
  readonly principals?: readonly Principal[];
  /** Maximum number in this step. */
  readonly max: number;
}

export interface PruneStep {
  readonly pruned: number;
  /** Undefined: this was the last step. */
  readonly next: number | undefined;
}
