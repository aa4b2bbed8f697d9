/** The JSON forms of tokens and audit entries. */
import { isoTime } from "../feature/views.ts";
import type { AuditEntry, StoredToken } from "../store/store.ts";

export type TokenView = ReturnType<typeof tokenView>;

/** Without the secret, which nothing keeps. */
export function tokenView(token: StoredToken, nowMs: number) {
  const { id, name, can, person, createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs } = token;
  return {
    id,
    name,
    can: [...can],
    person: person ?? null,
    state: stateOf(token, nowMs),
    createdAt: isoTime(createdAtMs),
    expiresAt: timeOrNull(expiresAtMs),
    revokedAt: timeOrNull(revokedAtMs),
    lastUsedAt: timeOrNull(lastUsedAtMs),
  };
}

function stateOf({ expiresAtMs = Infinity, revokedAtMs }: StoredToken, nowMs: number) {
  if (revokedAtMs !== undefined) return "revoked" as const;
  return expiresAtMs <= nowMs ? ("expired" as const) : ("active" as const);
}

export type AuditView = ReturnType<typeof auditView>;

export function auditView({ atMs, seq, principal, kind, object, detail, hash }: AuditEntry) {
  return { seq, at: isoTime(atMs), principal, kind, object, detail, hash };
}

function timeOrNull(atMs: number | undefined): string | null {
  return atMs === undefined ? null : isoTime(atMs);
}
