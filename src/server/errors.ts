import { CortexError, type ErrorCode } from "../model/errors.ts";

/** The status of each error that a request can cause. Other errors are internal: 500. */
export const STATUS: Partial<Record<ErrorCode, number>> = {
  body_invalid: 400,
  event_invalid: 400,
  id_invalid: 400,
  json_invalid: 400,
  limit_invalid: 400,
  profile_unknown: 400,
  queue_mode_unknown: 400,
  request_invalid: 400,
  session_key_invalid: 400,
  smart_unconfigured: 400,
  target_conflict: 400,
  target_invalid: 400,
  usage: 400,
  auth_failed: 401,
  signature_invalid: 401,
  approval_forbidden: 403,
  origin_forbidden: 403,
  scope_missing: 403,
  agent_unknown: 404,
  approval_unknown: 404,
  delivery_unknown: 404,
  event_unknown: 404,
  attachment_unknown: 404,
  channel_unknown: 404,
  pairing_unknown: 404,
  hook_unknown: 404,
  item_unknown: 404,
  member_unknown: 404,
  person_unknown: 404,
  persona_unknown: 404,
  relay_unknown: 404,
  route_unknown: 404,
  run_unknown: 404,
  session_unknown: 404,
  task_unknown: 404,
  team_missing: 404,
  template_unknown: 404,
  token_unknown: 404,
  turn_unknown: 404,
  webhook_unknown: 404,
  method_unsupported: 405,
  approval_changed: 409,
  approval_expired: 409,
  hook_failed: 409,
  idempotency_conflict: 409,
  session_exists: 409,
  state_conflict: 409,
  body_too_large: 413,
  event_too_large: 413,
  message_too_large: 413,
  auth_limited: 429,
  turn_failed: 502,
  channel_unavailable: 503,
  store_busy: 503,
  store_closed: 503,
  store_full: 503,
  store_unwritable: 503,
  store_writer_lost: 503,
  team_unreadable: 503,
  team_unwritable: 503,
  webhook_unconfigured: 503,
};

/** The response to an error. Unexpected errors are not shown: they may hold anything. */
export function errorReply(error: unknown, log: (line: string) => void): Response {
  const known = error instanceof CortexError ? error : unexpected(error);
  const status = STATUS[known.code] ?? 500;
  if (status === 500) log(`A request failed: ${describe(error)}`);
  const { code, message, hint, retryAfterMs } = known;
  const headers: Record<string, string> = {};
  if (known.code === "auth_failed") headers["WWW-Authenticate"] = 'Bearer realm="cortex"';
  if (status === 413) headers["Connection"] = "close"; // the rest of the body is not read
  if (retryAfterMs !== undefined) headers["Retry-After"] = String(Math.ceil(retryAfterMs / 1_000));
  return Response.json({ error: { code, message, hint } }, { status, headers });
}

function unexpected(cause: unknown): CortexError {
  return new CortexError("internal", "Internal error", {
    hint: "Check the log and report this error.",
    cause,
  });
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${describe(error.cause)}`;
  return (error.stack ?? error.message) + cause;
}
