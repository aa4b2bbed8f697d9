/**
 * Authenticates requests: by the token, or by the cookie of a browser that opened a one-time link.
 *
 * Too many wrong tokens from one address are answered with 429. The right token is still accepted: all programs of this
 * machine share an address, so a lock would let any of them lock the owner out, and 256 random bits cannot be guessed.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

import { CortexError } from "../model/errors.ts";
import { FailureLimit } from "./failure-limit.ts";
import { LoginLinks } from "./login-links.ts";

export interface ClientCredentials {
  readonly method: string;
  readonly address: string;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** The value of Origin, which was checked to be ours. */
  readonly origin: string | undefined;
  /** The value of X-Cortex. */
  readonly marker: string | undefined;
  /** The value of Sec-Fetch-Site: the kind of page that a browser sends the request for. */
  readonly fetchSite: string | undefined;
}

/** A browser stays logged in for this long. */
export const PASS_MS = 30 * 24 * 60 * 60_000;

export class Auth {
  readonly #token: () => Promise<string>;
  readonly #clock: () => number;
  readonly #cookieName: string;
  readonly #limit: FailureLimit;
  readonly #links: LoginLinks;

  /** All ports of a host share cookies, so the port is part of the name. */
  constructor(parts: { token: () => Promise<string>; clock: () => number; port: number }) {
    this.#token = parts.token;
    this.#clock = parts.clock;
    this.#cookieName = `cortex-${parts.port}`;
    this.#limit = new FailureLimit(parts.clock);
    this.#links = new LoginLinks(parts.clock);
  }

  /** Throws `auth_failed`, `auth_limited` or `origin_forbidden` unless the request is the owner's. */
  async check(credentials: ClientCredentials): Promise<void> {
    const { authorization, cookie, address } = credentials;
    const token = await this.#readToken();
    if (authorization !== undefined) {
      const shown = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
      if (shown === undefined || !equalSecrets(shown, token)) throw this.#failure(address);
      return;
    }
    const pass = readCookie(cookie, this.#cookieName);
    if (pass === undefined) throw authFailed("Missing token");
    if (!isPassGood(pass, token, this.#clock())) throw this.#failure(address);
    checkSameSite(credentials);
  }

  makeLink(): string {
    return this.#links.make();
  }

  /** Exchanges a login link for a cookie. A link works once. */
  async redeem(secret: string, address: string): Promise<string> {
    if (!this.#links.redeem(secret)) throw this.#failure(address);
    const pass = makePass(await this.#readToken(), this.#clock() + PASS_MS);
    return `${this.#cookieName}=${pass}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${PASS_MS / 1_000}`;
  }

  /** Does not reveal the files of this server or their problems. */
  async #readToken(): Promise<string> {
    try {
      return await this.#token();
    } catch (cause) {
      throw new CortexError("token_unsafe", "The token of this server is unusable", {
        hint: "The owner finds the reason in the log and with `cortex doctor`.",
        cause,
      });
    }
  }

  #failure(address: string): CortexError {
    const waitMs = this.#limit.fail(address);
    return waitMs === undefined ? authFailed("Invalid token or link") : authLimited(waitMs);
  }
}

/**
 * Browsers attach the cookie to requests of any page on the same site, and count other ports of this host as the same
 * site.
 */
function checkSameSite({ method, origin, marker, fetchSite }: ClientCredentials): void {
  const isOurs = fetchSite === undefined || fetchSite === "same-origin" || fetchSite === "none";
  const isRead = method === "GET" || method === "HEAD";
  if (isOurs && (isRead || origin !== undefined || marker === "1")) return;
  throw new CortexError("origin_forbidden", "The request does not come from a page of this server", {
    hint: "With the cookie, send `X-Cortex: 1`; from other programs, send the token.",
  });
}

function readCookie(header: string | undefined, name: string): string | undefined {
  const found = header?.split(/; */).find((pair) => pair.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}

/** Takes the same time wherever the two differ, also in length. */
function equalSecrets(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

/**
 * A browser gets a pass instead of the token: it opens only this server, expires, and is void as soon as the token is
 * replaced. Nothing has to be stored for it.
 */
function makePass(token: string, expiresAtMs: number): string {
  return `${expiresAtMs}.${sign(token, expiresAtMs)}`;
}

function isPassGood(pass: string, token: string, nowMs: number): boolean {
  const expiresAtMs = Number(/^(\d{1,15})\./.exec(pass)?.[1]);
  return equalSecrets(pass, makePass(token, expiresAtMs)) && nowMs < expiresAtMs;
}

function sign(token: string, expiresAtMs: number): string {
  return createHmac("sha256", token).update(`browser until ${expiresAtMs}`).digest("hex");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function authFailed(message: string): CortexError {
  return new CortexError("auth_failed", message, {
    hint: "Send `Authorization: Bearer <token>`; the token is in data/token. `cortex up` prints a link for browsers.",
  });
}

function authLimited(retryAfterMs: number): CortexError {
  return new CortexError("auth_limited", "Too many wrong tokens from this address", {
    hint: "Wait for the time in Retry-After, or send the right token.",
    retryAfterMs,
  });
}
