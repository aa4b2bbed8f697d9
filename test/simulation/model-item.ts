import type { QueueMode } from "../../src/model/queue-mode.ts";

/** A message in the queue of a session. */
export interface ModelItem {
  readonly id: string;
  readonly event: string;
  readonly session: string;
  readonly mode: QueueMode;
  readonly queuedMs: number;
  readonly dueMs: { value: number };
  state: "queued" | "claimed" | "done" | "merged" | "dropped" | "dead";
  policy?: string;
  /** Of one that was dropped: the turn that was told of it. */
  turn?: string;
}
