import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** Compares in a time that tells nothing about where, or in length, the two differ. */
export function equalSecrets(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

/**
 * What a browser is given instead of the token: it opens nothing but this server, ends by itself, and ends
 * at once when the token is replaced. Nothing has to be remembered for it.
 */
export function makePass(token: string, expiresAtMs: number): string {
  return `${expiresAtMs}.${sign(token, expiresAtMs)}`;
}

export function isPassGood(pass: string, token: string, nowMs: number): boolean {
  const expiresAtMs = Number(/^(\d{1,15})\./.exec(pass)?.[1]);
  return equalSecrets(pass, makePass(token, expiresAtMs)) && nowMs < expiresAtMs;
}

function sign(token: string, expiresAtMs: number): string {
  return createHmac("sha256", token).update(`browser until ${expiresAtMs}`).digest("hex");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
