import { CortexError } from "../model/errors.ts";
import { present } from "../model/present.ts";
import { type Caller, checkScopes } from "../model/scopes.ts";
import { hashToken, mintToken } from "../model/token.ts";
import { refuseSecretName } from "../store/kept-id.ts";
import type { Store, StoredToken } from "../store/store.ts";

interface WantedToken {
  readonly name: string;
  readonly can: readonly string[];
  readonly expiresAtMs?: number | undefined;
}

/** It names who did something in the audit log, and stands in error messages. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/;

/** Only the caller of this ever has the secret. */
export async function createToken(
  { name, can, expiresAtMs }: WantedToken,
  {
    id,
    by,
    nowMs,
    store,
  }: { id: string; by: Caller; nowMs: number; store: Pick<Store, "tokens" | "holdsSecret"> },
): Promise<{ readonly token: StoredToken; readonly secret: string }> {
  if (!NAME.test(name)) throw nameInvalid(name);
  refuseSecretName("name", name, store);
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) throw expiresInvalid(expiresAtMs);
  const secret = mintToken();
  const token = { id, name, hash: hashToken(secret), can: checkScopes(can), ...present({ expiresAtMs }) };
  return { token: await store.tokens.create(token, by), secret };
}

function nameInvalid(name: string): CortexError {
  return new CortexError("request_invalid", `Invalid token name ${JSON.stringify(name.slice(0, 80))}`, {
    hint: "A name has 1 to 64 ASCII letters, digits, spaces, dots, - and _, and starts with a letter or digit.",
  });
}

function expiresInvalid(expiresAtMs: number): CortexError {
  return new CortexError(
    "request_invalid",
    `The token would expire in the past: ${new Date(expiresAtMs).toISOString()}`,
    { hint: "Give a time in the future, or none." },
  );
}
