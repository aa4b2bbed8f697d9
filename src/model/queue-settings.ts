import type { QueueMode } from "./queue-mode.ts";

/** How the queue of a session treats a message. */
export interface QueueSettings {
  /** What it does while a run is under way. */
  readonly mode: QueueMode;
  /** How long it must be quiet before messages are collected. */
  readonly debounceMs: number;
  /** How many may wait in one session. */
  readonly cap: number;
  /** What happens to the message that would be one too many, or to the oldest. */
  readonly drop: DropPolicy;
  /** What becomes of the older messages when one interrupts: they join it, or are dropped. */
  readonly onInterrupt: InterruptPolicy;
}

export const DROP_POLICIES = ["summarize", "old", "new"] as const;
type DropPolicy = (typeof DROP_POLICIES)[number];

export const INTERRUPT_POLICIES = ["drain", "drop"] as const;
type InterruptPolicy = (typeof INTERRUPT_POLICIES)[number];

/** What waits in a session is read at every step of its run, so there must be an end to it. */
export const MAX_QUEUE_CAP = 1_000;
/** An hour. A message that is to wait longer is a matter for a timer. */
export const MAX_DEBOUNCE_MS = 3_600_000;
