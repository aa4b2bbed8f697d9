/** Tokens: 256 random bits. Scoped ones have a prefix by which scanners, and our own redaction, recognize them. */
import { hash, randomBytes } from "node:crypto";

const TOKEN_BYTES = 32;
const PREFIX = "ctx_";
const TOKEN = new RegExp(`^${PREFIX}[0-9a-f]{${2 * TOKEN_BYTES}}$`);

export function mintToken(): string {
  return PREFIX + mintMainToken();
}

export function mintMainToken(): string {
  return randomBytes(TOKEN_BYTES).toString("hex");
}

export function isScopedToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The form in which a token is stored. Its randomness makes salt and stretching unnecessary. */
export function hashToken(token: string): string {
  return hash("sha256", token);
}

/** Enough to tell tokens apart, and too little to find one. */
const FINGERPRINT_LENGTH = 16;

/** The main token as the audit log knows it. */
export function mainTokenNote(token: string) {
  const fingerprint = hashToken(token).slice(0, FINGERPRINT_LENGTH);
  return { kind: "token.main", object: "main", fingerprint } as const;
}

const ANYWHERE = new RegExp(`${PREFIX}[0-9a-f]{${2 * TOKEN_BYTES}}`, "g");

/** Removes scoped tokens from a text. Only their hashes are known, so they are recognized by their form. */
export function redactTokens(text: string): string {
  return text.includes(PREFIX) ? text.replaceAll(ANYWHERE, "[scoped token]") : text;
}
