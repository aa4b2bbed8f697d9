/**
 * Authenticates requests: by the main token, by a scoped token, or by the cookie of a browser that opened a one-time link.
 *
 * Too many wrong tokens from one address are answered with 429. The right token is still accepted: all programs of this
 * machine share an address, so a lock would let any of them lock the owner out, and 256 random bits cannot be guessed.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

import { CortexError, errorText } from "../model/errors.ts";
import { MINUTE_MS } from "../model/durations.ts";
import { canonicalJson } from "../model/json.ts";
import { type Caller, OWNER_CALLER } from "../model/scopes.ts";
import { hashToken, isScopedToken, mainTokenNote } from "../model/token.ts";
import type { Actor, AuditKind, NewAuditEntry, Store, StoredToken } from "../store/store.ts";
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

/** How exactly the last use of a token is known: noting it costs a commit. */
export const USE_NOTED_EVERY_MS = MINUTE_MS;
/** Neither an attacker with many addresses nor a stolen token must fill the audit log. */
export const MAX_REFUSALS_RECORDED = 60;
export const REFUSALS_WINDOW_MS = 60 * MINUTE_MS;

interface AuthParts {
  /** Reads the main token. */
  readonly token: () => Promise<string>;
  readonly store: {
    readonly tokens: Pick<Store["tokens"], "find" | "used">;
    readonly audit: Pick<Store["audit"], "append" | "noteOutside">;
  };
  readonly clock: () => number;
  readonly port: number;
  readonly log: (line: string) => void;
}

export class Auth {
  readonly #token: () => Promise<string>;
  readonly #store: AuthParts["store"];
  readonly #clock: () => number;
  readonly #log: (line: string) => void;
  /** The main token that the audit log knows. */
  #noted: string | undefined;
  /** When the use of each token was last noted. */
  readonly #usedAtMs = new Map<string, number>();
  /** By kind, those recorded in the current window. */
  readonly #refusals = new Map<AuditKind, { readonly refusals: Set<string>; readonly untilMs: number }>();
  readonly #cookieName: string;
  readonly #limit: FailureLimit;
  readonly #links: LoginLinks;

  /** All ports of a host share cookies, so the port is part of the name. */
  constructor(parts: AuthParts) {
    this.#token = parts.token;
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#cookieName = `cortex-${parts.port}`;
    this.#limit = new FailureLimit(parts.clock);
    this.#links = new LoginLinks(parts.clock);
  }

  /** Throws `auth_failed`, `auth_limited` or `origin_forbidden` unless it knows who makes the request. */
  async check(credentials: ClientCredentials): Promise<Caller> {
    const { authorization, cookie, address } = credentials;
    const caller = await this.#identify(credentials); // first: reading the token makes a deleted one anew
    if (authorization === undefined && readCookie(cookie, this.#cookieName) === undefined)
      throw authFailed("Missing token");
    if (caller === undefined) throw this.#failure(address);
    if (authorization === undefined) checkSameSite(credentials);
    return caller;
  }

  /** Whether credentials that were good still are: tokens expire, and are revoked and replaced. */
  async isStillGood(credentials: ClientCredentials): Promise<boolean> {
    return (await this.#identify(credentials)) !== undefined;
  }

  async #identify({ authorization, cookie }: ClientCredentials): Promise<Caller | undefined> {
    const token = await this.#readToken();
    if (authorization !== undefined) {
      const shown = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
      return equalSecrets(shown, token) ? OWNER_CALLER : this.#findCaller(shown);
    }
    const pass = readCookie(cookie, this.#cookieName);
    return pass !== undefined && isPassGood(pass, token, this.#clock()) ? OWNER_CALLER : undefined;
  }

  /** Records the main token in the audit log if it is another one than before, also before the server's start. */
  async noteMainToken(): Promise<void> {
    const token = await this.#readToken();
    await this.#store.audit.noteOutside(mainTokenNote(token), OWNER_ACTOR);
    this.#noted = token;
  }

  makeLink(): string {
    return this.#links.make();
  }

  /** Exchanges a login link for a cookie. A link works once. */
  async redeem(secret: string, address: string): Promise<string> {
    if (!this.#links.redeem(secret)) throw this.#failure(address);
    await this.#store.audit.append({ principal: "owner", kind: "login", object: address, detail: {} });
    const pass = makePass(await this.#readToken(), this.#clock() + PASS_MS);
    return `${this.#cookieName}=${pass}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${PASS_MS / 1_000}`;
  }

  /** Does not reveal the files of this server or their problems. */
  async #readToken(): Promise<string> {
    try {
      const token = await this.#token();
      if (this.#noted !== undefined && this.#noted !== token) {
        this.#noted = token;
        this.noteMainToken().catch((error: unknown) => this.#cannotRecord(error));
      }
      return token;
    } catch (cause) {
      throw new CortexError("token_unsafe", "The server token is unusable", {
        hint: "See the log or `cortex doctor` for the reason.",
        cause,
      });
    }
  }

  /** The holder of a scoped token. Looked up by its hash, so a lookup takes the same time for any guess. */
  async #findCaller(shown: string): Promise<Caller | undefined> {
    if (!isScopedToken(shown)) return undefined;
    const token = await this.#store.tokens.find(hashToken(shown));
    const nowMs = this.#clock();
    if (token === undefined || !isValid(token, nowMs)) return undefined;
    this.#noteUse(token, nowMs);
    return { principal: token.person ?? OWNER_CALLER.principal, can: token.can, token: token.name };
  }

  /** Delays no request, and fails none. */
  #noteUse({ id, lastUsedAtMs }: StoredToken, nowMs: number): void {
    const notedAtMs = this.#usedAtMs.get(id) ?? lastUsedAtMs ?? -Infinity;
    if (Math.abs(nowMs - notedAtMs) < USE_NOTED_EVERY_MS) return;
    this.#usedAtMs.set(id, nowMs);
    this.#store.tokens.used(id).catch((error: unknown) => this.#cannotRecord(error));
  }

  #failure(address: string): CortexError {
    const limited = this.#limit.fail(address);
    if (limited === undefined) return authFailed("Invalid token or link");
    if (limited.isFirst)
      this.#recordRefusal({ principal: "anyone", kind: "auth.failures", object: address, detail: {} });
    return authLimited(limited.retryAfterMs);
  }

  /** Records that a token was used for what it was not made for. */
  noteRefusal({ principal, token = "" }: Caller, needs: string): void {
    this.#recordRefusal({ principal, kind: "token.refuse", object: token, detail: { needs } });
  }

  /** Each once in a window. Wrong tokens leave room for the refusals of good ones. */
  #recordRefusal(entry: NewAuditEntry): void {
    const nowMs = this.#clock();
    const { kind, object, detail } = entry;
    let recorded = this.#refusals.get(kind);
    if (recorded === undefined || recorded.untilMs <= nowMs) {
      recorded = { refusals: new Set(), untilMs: nowMs + REFUSALS_WINDOW_MS };
      this.#refusals.set(kind, recorded);
    }
    const refusal = canonicalJson([object, detail]);
    if (recorded.refusals.has(refusal) || recorded.refusals.size >= MAX_REFUSALS_RECORDED) return;
    recorded.refusals.add(refusal);
    this.#store.audit.append(entry).catch((error: unknown) => this.#cannotRecord(error));
  }

  #cannotRecord(error: unknown): void {
    this.#log(`Cannot record the use of tokens: ${errorText(error)}`);
  }
}

/** Only the owner can write the file. */
const OWNER_ACTOR: Actor = { principal: OWNER_CALLER.principal };

function isValid({ revokedAtMs, expiresAtMs }: StoredToken, nowMs: number): boolean {
  return revokedAtMs === undefined && (expiresAtMs === undefined || nowMs < expiresAtMs);
}

/**
 * Browsers attach the cookie to requests of any page on the same site, and count other ports of this host as the same
 * site.
 */
function checkSameSite({ method, origin, marker, fetchSite }: ClientCredentials): void {
  const isOurs = fetchSite === undefined || fetchSite === "same-origin" || fetchSite === "none";
  const isRead = method === "GET" || method === "HEAD";
  if (isOurs && (isRead || origin !== undefined || marker === "1")) return;
  throw new CortexError("origin_forbidden", "Cross-origin request rejected", {
    hint: "Browsers: send the header `X-Cortex: 1` with the cookie. Other programs: send the token.",
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
    hint: "Send `Authorization: Bearer <token>`: the one in data/token, or one of `cortex tokens create`. `cortex up` prints a link for browsers.",
  });
}

function authLimited(retryAfterMs: number): CortexError {
  return new CortexError("auth_limited", "Too many invalid tokens", {
    hint: "Retry after the delay in Retry-After, or send a valid token.",
    retryAfterMs,
  });
}
