import type { WakeTopic } from "../store.ts";
import type { Cell } from "./wire.ts";

/** What the side that writes is started with. */
export interface WriterData {
  readonly path: string;
  readonly nowMs: number;
}

/** Operations one after another: code, moment, input. */
export interface Batch {
  readonly cells: readonly Cell[];
  /** Finish the checkpoint when the batch is done. */
  readonly checkpoint: boolean;
}

/** `results` holds two entries for each operation of the batch: how it ended, and with what. */
export interface Reply {
  /** Set where the whole batch failed and nothing of it was kept. */
  readonly failure: { readonly message: string; readonly code: string } | undefined;
  readonly results: readonly unknown[];
  readonly wakes: number;
  readonly walFrames: number;
}

/** The way to the side that writes. One batch at a time: the next is posted after the reply to the last. */
export interface WriterConnection {
  post(batch: Batch): void;
  onReply(listener: (reply: Reply) => void): void;
  /** It has ended, and not because it was closed. */
  onEnd(listener: (cause: unknown) => void): void;
  close(): Promise<void>;
  /** Ends it where it stands, as a crash would. */
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
