import type { Json } from "../model/json.ts";
import type { Listed, ListOptions } from "./list.ts";

/**
 * The audit log: every decision of a person and every change of rights, in the order in which they were made. An entry
 * is part of the commit that it records, is never changed or pruned, and is chained to the one before it by its hash.
 *
 * It names what was decided, never the text that it was about, which can be pruned.
 */
export interface AuditReads {
  /** Newest first. */
  list(options?: ListOptions & AuditFilter): Promise<Listed<AuditEntry>>;
}

export interface AuditStore extends AuditReads {
  /** Records what no row of the store stands for. Unlike other verbs, a repeated call records it again. */
  append(entry: NewAuditEntry): Promise<void>;

  /**
   * Records that something outside the ledger is another than the last time, such as the main token or the accepted
   * content of a plugin. Unchanged: does nothing.
   */
  noteOutside(noted: NotedOutside, by: Actor): Promise<void>;
}

export type AuditKind =
  | "approval.approve"
  | "approval.deny"
  | "approval.expire"
  | "auth.failures"
  | "config.personas"
  | "hook.disable"
  | "hook.enable"
  | "login"
  | "person.add"
  | "person.change"
  | "person.remove"
  | "plugin.pin"
  | "question.answer"
  | "question.deny"
  | "question.expire"
  | "token.create"
  | "token.main"
  | "token.refuse"
  | "token.revoke"
  | "trust.clear";

/** Who decided. */
export interface Actor {
  /** The person, or `agent:<id>`. */
  readonly principal: string;
  /** The name of the token that they used. Undefined: the main token, or none. */
  readonly token?: string;
}

export interface NotedOutside {
  readonly kind: Extract<AuditKind, "plugin.pin" | "token.main">;
  readonly object: string;
  /** Of its content. */
  readonly fingerprint: string;
}

export interface NewAuditEntry {
  /** Who decided. `cortex`: nobody did, in time. */
  readonly principal: string;
  readonly kind: AuditKind;
  /** Id or name of the affected object. */
  readonly object: string;
  readonly detail: Json;
}

export interface AuditEntry extends NewAuditEntry {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly atMs: number;
  /** Hexadecimal. See audit-hash.ts of the model. */
  readonly hash: string;
}

export interface AuditFilter {
  /** Inclusive. */
  readonly sinceMs?: number;
  /** What this person decided, and what was decided about them. */
  readonly person?: string;
}
