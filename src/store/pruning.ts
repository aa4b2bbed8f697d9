/** How much there is of what can be pruned. */
export type Prunable = Readonly<Record<PruneKind, number>> & {
  /** What was said in it, about. */
  readonly bytes: number;
};

/** In the order in which they are pruned. */
export const PRUNE_KINDS = ["turns", "events", "deliveries", "approvals", "relays"] as const;
export type PruneKind = (typeof PRUNE_KINDS)[number];

export interface PruneRequest {
  /** Only what is from before this moment. */
  readonly beforeMs: number;
  /** The `next` of the step before. */
  readonly after?: number | undefined;
  /** In this step, at most so many. */
  readonly max: number;
}

export interface PruneStep {
  readonly pruned: number;
  /** Undefined: this was the last step. */
  readonly next: number | undefined;
}
