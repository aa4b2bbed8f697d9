/**
 * What went wrong, for programs. A code is never renamed once released; `docs/errors.md` explains each.
 */
export type ErrorCode =
  | "agent_unknown"
  | "approval_changed"
  | "approval_expired"
  | "approval_forbidden"
  | "approval_unknown"
  | "auth_failed"
  | "auth_limited"
  | "body_invalid"
  | "body_too_large"
  | "chain_ended"
  | "channel_conflict"
  | "channel_unavailable"
  | "channel_unknown"
  | "config_invalid"
  | "context_overflow"
  | "credentials_missing"
  | "credentials_refused"
  | "delegation_unknown"
  | "delivery_failed"
  | "delivery_refused"
  | "delivery_uncertain"
  | "delivery_unknown"
  | "event_invalid"
  | "event_too_large"
  | "event_unknown"
  | "attachment_unknown"
  | "file_unsafe"
  | "head_moved"
  | "hook_failed"
  | "hook_unknown"
  | "host_forbidden"
  | "home_unwritable"
  | "id_invalid"
  | "idempotency_conflict"
  | "internal"
  | "item_unknown"
  | "journal_conflict"
  | "json_invalid"
  | "lease_lost"
  | "limit_invalid"
  | "member_unknown"
  | "message_too_large"
  | "method_unsupported"
  | "model_failed"
  | "model_unconfigured"
  | "origin_forbidden"
  | "package_missing"
  | "pairing_unknown"
  | "path_forbidden"
  | "pattern_refused"
  | "person_unknown"
  | "persona_unknown"
  | "plugin_unpinned"
  | "port_in_use"
  | "profile_unknown"
  | "query_failed"
  | "query_refused"
  | "query_timeout"
  | "query_too_large"
  | "queue_mode_unknown"
  | "quota_exceeded"
  | "relay_unknown"
  | "request_invalid"
  | "route_unknown"
  | "run_unknown"
  | "schedule_invalid"
  | "scope_missing"
  | "script_invalid"
  | "server_missing"
  | "session_exists"
  | "session_key_invalid"
  | "session_unknown"
  | "signature_invalid"
  | "skill_invalid"
  | "skill_unknown"
  | "smart_unconfigured"
  | "state_conflict"
  | "store_busy"
  | "store_closed"
  | "store_corrupt"
  | "store_foreign"
  | "store_full"
  | "store_locked"
  | "store_missing"
  | "store_newer"
  | "store_older"
  | "store_unwritable"
  | "store_writer_lost"
  | "sub_agent_failed"
  | "target_conflict"
  | "target_invalid"
  | "task_unknown"
  | "team_missing"
  | "team_unreadable"
  | "team_unwritable"
  | "template_unknown"
  | "token_unknown"
  | "token_unsafe"
  | "tool_failed"
  | "tool_input_invalid"
  | "turn_cyclic"
  | "turn_failed"
  | "turn_invalid"
  | "turn_unknown"
  | "usage"
  | "webhook_unconfigured"
  | "webhook_unknown";

/** The one error class of Cortex. Its message says what happened, its hint what to do about it. */
export class CortexError extends Error {
  override readonly name = "CortexError";
  readonly code: ErrorCode;
  readonly hint: string;
  /** Whether the same work can succeed later. The queue retries on this and on nothing else. */
  readonly transient: boolean;
  /** Not before this long from now, where whoever refused has said so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint: string; transient?: boolean; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.transient = options.transient ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The code of a system error: `ENOENT`, `EACCES`. Undefined: it is another kind of error. */
export function systemErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** What an error says, whatever was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
