/**
 * What went wrong, for programs. A code is never renamed once released; `docs/errors.md` explains each.
 */
export type ErrorCode =
  | "delivery_unknown"
  | "event_invalid"
  | "event_too_large"
  | "event_unknown"
  | "head_moved"
  | "id_invalid"
  | "item_unknown"
  | "json_invalid"
  | "journal_conflict"
  | "lease_lost"
  | "limit_invalid"
  | "message_too_large"
  | "query_failed"
  | "query_refused"
  | "query_timeout"
  | "query_too_large"
  | "queue_mode_unknown"
  | "run_unknown"
  | "session_exists"
  | "session_key_invalid"
  | "session_unknown"
  | "state_conflict"
  | "store_busy"
  | "store_closed"
  | "store_corrupt"
  | "store_foreign"
  | "store_full"
  | "store_locked"
  | "store_missing"
  | "store_newer"
  | "store_unwritable"
  | "store_writer_lost"
  | "target_conflict"
  | "target_invalid"
  | "turn_cyclic"
  | "turn_invalid"
  | "turn_unknown"
  | "usage";

/** The one error class of Cortex. Its message says what happened, its hint what to do about it. */
export class CortexError extends Error {
  override readonly name = "CortexError";
  readonly code: ErrorCode;
  readonly hint: string;
  /** Whether the same work can succeed later. The queue retries on this and on nothing else. */
  readonly transient: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint: string; transient?: boolean; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.transient = options.transient ?? false;
  }
}
