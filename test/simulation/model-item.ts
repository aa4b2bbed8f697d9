import type { QueueMode } from "../../src/model/queue-mode.ts";

/** A message in the queue of a session. */
export interface ModelItem {
  readonly id: string;
  readonly event: string;
  /** The event that it is for, where a hook has said something of the other one when its turn had begun. */
  readonly lateEvent?: string;
  readonly session: string;
  mode: QueueMode;
  readonly queuedMs: number;
  readonly dueMs: { value: number };
  state: "queued" | "claimed" | "done" | "merged" | "dropped" | "dead";
  policy?: string;
  /** Of one that was dropped: the turn that was told of it. */
  turn?: string;
}
