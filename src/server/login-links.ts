import { createHash, randomBytes } from "node:crypto";

/** An unopened link expires after this long. */
export const LINK_MS = 10 * 60_000;
/** Beyond this number, the oldest links are void. */
export const MAX_LINKS = 16;
const SECRET_BYTES = 32;

/** One-time links that log a browser in. */
export class LoginLinks {
  readonly #clock: () => number;
  /** By hash, so that a lookup takes the same time for any guess. */
  readonly #expiresAtMs = new Map<string, number>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** The secret of a new link. */
  make(): string {
    const secret = randomBytes(SECRET_BYTES).toString("hex");
    this.#expiresAtMs.set(hash(secret), this.#clock() + LINK_MS);
    if (this.#expiresAtMs.size > MAX_LINKS) this.#expiresAtMs.delete(this.#expiresAtMs.keys().next().value!);
    return secret;
  }

  /** Consumes a link. False: unknown or expired. */
  redeem(secret: string): boolean {
    const key = hash(secret);
    const expiresAtMs = this.#expiresAtMs.get(key);
    this.#expiresAtMs.delete(key);
    return expiresAtMs !== undefined && this.#clock() < expiresAtMs;
  }
}

function hash(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
