import { createHash, randomBytes } from "node:crypto";

/** A link that nobody has opened is good for this long. */
export const LINK_MS = 10 * 60_000;
/** Of more links than this, the oldest are void. */
export const MAX_LINKS = 16;
const SECRET_BYTES = 32;

/** Links that log a browser in, each once. */
export class LoginLinks {
  readonly #clock: () => number;
  /** By their hashes: looking one up takes the same time however much of it was guessed. */
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

  /** Uses a link up. False: there is none, or not any more. */
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
