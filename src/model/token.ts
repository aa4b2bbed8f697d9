/** Scoped tokens: 256 random bits behind a prefix by which scanners, and our own redaction, recognize them. */
import { hash, randomBytes } from "node:crypto";

const TOKEN_BYTES = 32;
const PREFIX = "ctx_";
const TOKEN = new RegExp(`^${PREFIX}[0-9a-f]{${2 * TOKEN_BYTES}}$`);

export function mintToken(): string {
  return PREFIX + randomBytes(TOKEN_BYTES).toString("hex");
}

export function isScopedToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The form in which a token is stored. Its randomness makes salt and stretching unnecessary. */
export function hashToken(token: string): string {
  return hash("sha256", token);
}

const ANYWHERE = new RegExp(`${PREFIX}[0-9a-f]{${2 * TOKEN_BYTES}}`, "g");

/** Removes scoped tokens from a text. Only their hashes are known, so they are recognized by their form. */
export function redactTokens(text: string): string {
  return text.includes(PREFIX) ? text.replaceAll(ANYWHERE, "[scoped token]") : text;
}
