/**
 * An operation of the writer: a codec for its input, and a function that runs inside a savepoint of a batch.
 * Statements are prepared once, on first use.
 */
import type { Database } from "better-sqlite3";

import { CortexError, type ErrorCode } from "../../model/errors.ts";
import type { WakeTopic } from "../store.ts";
import type { Codec } from "./wire.ts";

export interface Operation<T, In, Out> {
  readonly input: Codec<T, In>;
  readonly prepare: (db: Database) => (input: T, moment: OperationTime) => Out | Refusal;
}

/** When the operation was requested, and a way to wake those that it concerns. */
export interface OperationTime {
  readonly nowMs: number;
  readonly wake: (topic: WakeTopic) => void;
}

/**
 * A refused operation. It is a value, decided before the first write if possible, so that it costs its neighbours in
 * the batch nothing. Its savepoint is undone in any case, and the caller gets a CortexError.
 */
export class Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;

  constructor(code: ErrorCode, message: string, hint: string) {
    this.code = code;
    this.message = message;
    this.hint = hint;
  }

  /** For reads, which throw on the caller's side. */
  toError(): CortexError {
    return new CortexError(this.code, this.message, { hint: this.hint });
  }
}

export function operation<T, In, Out>(
  input: Codec<T, In>,
  prepare: (db: Database) => (input: T, moment: OperationTime) => Out | Refusal,
): Operation<T, In, Out> {
  return { input, prepare };
}
