import type { WakeTopic } from "../store.ts";
import type { Cell } from "./wire.ts";

/** The arguments of the writing side. */
export interface WriterData {
  readonly path: string;
  readonly nowMs: number;
}

/** Operations in sequence, each with its code, time and input. */
export interface Batch {
  readonly cells: readonly Cell[];
  /** Finish the checkpoint after the batch. */
  readonly checkpoint: boolean;
}

/** `results` holds two entries for each operation of the batch: its outcome and its value. */
export interface Reply {
  /** Set if the whole batch failed and was rolled back. */
  readonly failure: { readonly message: string; readonly code: string } | undefined;
  readonly results: readonly unknown[];
  readonly wakes: number;
  readonly walFrames: number;
}

/** The connection to the writing side. One batch at a time: the next is posted after the reply to the last. */
export interface WriterConnection {
  post(batch: Batch): void;
  onReply(listener: (reply: Reply) => void): void;
  /** Called if it ends without being closed. */
  onEnd(listener: (cause: unknown) => void): void;
  close(): Promise<void>;
  /** Stops it as a crash would. */
  kill(): Promise<void>;
}

export type Connect = (data: WriterData) => Promise<WriterConnection>;

export const DONE = 0;
export const REFUSED = 1;
export const FAILED = 2;

export const WAKE_BIT: Readonly<Record<WakeTopic, number>> = {
  queue: 1,
  runs: 2,
  outbox: 4,
  changes: 8,
  hooks: 16,
};
