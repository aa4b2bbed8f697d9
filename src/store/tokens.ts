import type { Scope } from "../model/scopes.ts";
import type { Actor } from "./audit.ts";
import type { Listed, ListOptions } from "./list.ts";

/**
 * Scoped tokens. The store never sees their secret, only its SHA-256. A token that has expired or was revoked stays
 * listed, so that the audit log and the events it sent keep their meaning.
 */
export interface TokenReads {
  /** The token whose secret has this hash, also if it is no longer valid. */
  find(hash: string): Promise<StoredToken | undefined>;

  get(id: string): Promise<StoredToken | undefined>;

  /** Newest first. */
  list(options?: ListOptions): Promise<Listed<StoredToken>>;
}

export interface TokenStore extends TokenReads {
  /**
   * `state_conflict` if a token that is not revoked has this name; `limit_invalid` for more than MAX_TOKENS that are
   * not revoked.
   */
  create(token: NewToken, by: Actor): Promise<StoredToken>;

  /** It is refused from then on. `token_unknown`. Repeating it changes nothing. */
  revoke(id: string, by: Actor): Promise<StoredToken>;

  /** Notes that it was used now. */
  used(id: string): Promise<void>;
}

export interface NewToken {
  readonly id: string;
  readonly name: string;
  /** The SHA-256 of its secret, in hexadecimal. */
  readonly hash: string;
  readonly can: readonly Scope[];
  /** Whose it is. Undefined: the owner's. */
  readonly person?: string;
  /** Undefined: never. */
  readonly expiresAtMs?: number;
}

export interface StoredToken extends Omit<NewToken, "hash"> {
  readonly createdAtMs: number;
  readonly revokedAtMs: number | undefined;
  /** To the minute. */
  readonly lastUsedAtMs: number | undefined;
}
