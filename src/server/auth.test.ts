import { expect, test } from "vitest";

import { hashToken, mintToken } from "../model/token.ts";
import type { NewAuditEntry, NotedOutside, StoredToken } from "../store/store.ts";
import {
  Auth,
  REFUSALS_WINDOW_MS,
  type ClientCredentials,
  MAX_REFUSALS_RECORDED,
  PASS_MS,
  USE_NOTED_EVERY_MS,
} from "./auth.ts";
import { FAILURE_WINDOW_MS, FailureLimit, MAX_ADDRESSES, MAX_FAILURES } from "./failure-limit.ts";
import { LINK_MS, MAX_LINKS } from "./login-links.ts";

const TOKEN = "a".repeat(64);

function openAuth() {
  const world = { nowMs: 1_000_000, token: TOKEN };
  const records = new Records();
  const auth = new Auth({
    token: async () => world.token,
    store: { tokens: records, audit: records },
    clock: () => world.nowMs,
    port: 4747,
    log: (line) => records.log.push(line),
  });
  return { auth, world, records };
}

/** What Auth reads and writes. */
class Records {
  readonly tokens = new Map<string, StoredToken>();
  readonly entries: NewAuditEntry[] = [];
  readonly mainTokens: string[] = [];
  readonly uses: string[] = [];
  readonly log: string[] = [];

  async find(hash: string): Promise<StoredToken | undefined> {
    return this.tokens.get(hash);
  }

  async used(id: string): Promise<void> {
    this.uses.push(id);
  }

  async append(entry: NewAuditEntry): Promise<void> {
    this.entries.push(entry);
  }

  async noteOutside({ fingerprint }: NotedOutside): Promise<void> {
    this.mainTokens.push(fingerprint);
  }

  /** The secret of a new token. */
  add(fields: Partial<StoredToken> = {}): string {
    const secret = mintToken();
    const always = { id: "1", name: "ci", createdAtMs: 0, revokedAtMs: undefined, lastUsedAtMs: undefined };
    this.tokens.set(hashToken(secret), { ...always, can: ["read"], ...fields });
    return secret;
  }
}

function credentials(given: Partial<ClientCredentials>): ClientCredentials {
  return {
    method: "GET",
    address: "127.0.0.1",
    authorization: undefined,
    cookie: undefined,
    origin: undefined,
    marker: undefined,
    fetchSite: undefined,
    ...given,
  };
}

async function logIn(auth: Auth): Promise<string> {
  const cookie = await auth.redeem(auth.makeLink(), "127.0.0.1");
  return cookie.split(";")[0]!;
}

test.each([`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `Bearer  ${TOKEN} `])(
  "%j lets in",
  async (authorization) => {
    const { auth } = openAuth();
    expect(await auth.check(credentials({ authorization }))).toEqual({ principal: "owner", can: ["admin"] });
  },
);

test.each([
  ["no header", undefined],
  ["an empty one", ""],
  ["the token alone", TOKEN],
  ["no token", "Bearer"],
  ["another scheme", `Basic ${TOKEN}`],
  ["a part of the token", `Bearer ${TOKEN.slice(1)}`],
  ["more than the token", `Bearer ${TOKEN}a`],
  ["another token", `Bearer ${"b".repeat(64)}`],
  ["the token twice", `Bearer ${TOKEN} ${TOKEN}`],
])("%s does not", async (_, authorization) => {
  const { auth } = openAuth();
  await expect(auth.check(credentials({ authorization }))).rejects.toMatchObject({ code: "auth_failed" });
});

test("a scoped token lets in with what it can, until it expires or is revoked", async () => {
  const { auth, world, records } = openAuth();
  const of = (secret: string) => auth.check(credentials({ authorization: `Bearer ${secret}` }));
  const refused = { code: "auth_failed", message: "Invalid token or link" };
  expect(await of(records.add())).toEqual({ principal: "owner", can: ["read"], token: "ci" });
  expect(await of(records.add({ person: "ada", can: ["send"] }))).toMatchObject({
    principal: "ada",
    can: ["send"],
  });
  await expect(of(records.add({ revokedAtMs: 5 }))).rejects.toMatchObject(refused);
  const expiring = records.add({ expiresAtMs: world.nowMs + 1 });
  await of(expiring);
  world.nowMs++;
  await expect(of(expiring)).rejects.toMatchObject(refused);
  await expect(of(mintToken())).rejects.toMatchObject(refused);
});

test("the use of a token is noted once a minute, and a failure to note it fails no request", async () => {
  const { auth, world, records } = openAuth();
  const authorization = `Bearer ${records.add({ lastUsedAtMs: world.nowMs })}`;
  await auth.check(credentials({ authorization }));
  expect(records.uses).toEqual([]);
  world.nowMs += USE_NOTED_EVERY_MS;
  for (let request = 0; request < 5; request++) await auth.check(credentials({ authorization }));
  expect(records.uses).toEqual(["1"]);
  world.nowMs += USE_NOTED_EVERY_MS;
  records.used = async () => Promise.reject(new Error("disk full"));
  await auth.check(credentials({ authorization }));
  await expect.poll(() => records.log).toEqual(["Cannot record the use of tokens: disk full"]);
});

test("a main token that is another one than before is noted, by its fingerprint", async () => {
  const { auth, world, records } = openAuth();
  await auth.noteMainToken();
  world.token = "c".repeat(64);
  const shown = credentials({ authorization: `Bearer ${world.token}` });
  await auth.check(shown);
  await auth.check(shown);
  expect(records.mainTokens).toEqual([TOKEN, world.token].map((token) => hashToken(token).slice(0, 16)));
});

test("a login is recorded, and so is the first of a burst of wrong tokens", async () => {
  const { auth, world, records } = openAuth();
  await logIn(auth);
  expect(records.entries).toEqual([{ principal: "owner", kind: "login", object: "127.0.0.1", detail: {} }]);
  records.entries.length = 0;
  const burst = async (address: string): Promise<void> => {
    for (let guess = 0; guess < 3 * MAX_FAILURES; guess++)
      await auth.check(credentials({ authorization: "Bearer wrong", address })).catch(() => {});
  };
  await burst("10.0.0.1");
  const first = { principal: "anyone", kind: "auth.failures", object: "10.0.0.1", detail: {} };
  expect(records.entries).toEqual([first]);
  for (let address = 0; address < MAX_REFUSALS_RECORDED + 5; address++) await burst(`10.0.1.${address}`);
  expect(records.entries).toHaveLength(MAX_REFUSALS_RECORDED);
  world.nowMs += REFUSALS_WINDOW_MS;
  await burst("10.0.0.1");
  expect(records.entries).toHaveLength(MAX_REFUSALS_RECORDED + 1);
});

test("a token used for what it was not made for is recorded once in a while, also among many wrong tokens", async () => {
  const { auth, world, records } = openAuth();
  const caller = { principal: "owner", can: ["read"], token: "ci" } as const;
  for (let address = 0; address < MAX_REFUSALS_RECORDED; address++)
    for (let guess = 0; guess <= MAX_FAILURES; guess++)
      await auth
        .check(credentials({ authorization: "Bearer wrong", address: `10.0.2.${address}` }))
        .catch(() => {});
  records.entries.length = 0;
  for (const needs of ["send", "send", "approve"]) auth.noteRefusal(caller, needs);
  const refusal = { principal: "owner", kind: "token.refuse", object: "ci" };
  expect(records.entries).toEqual([
    { ...refusal, detail: { needs: "send" } },
    { ...refusal, detail: { needs: "approve" } },
  ]);
  world.nowMs += REFUSALS_WINDOW_MS;
  auth.noteRefusal(caller, "send");
  expect(records.entries).toHaveLength(3);
});

test("credentials that were good are not for ever", async () => {
  const { auth, world, records } = openAuth();
  const expiring = credentials({
    authorization: `Bearer ${records.add({ expiresAtMs: world.nowMs + 1_000 })}`,
  });
  const main = credentials({ authorization: `Bearer ${TOKEN}` });
  const browser = credentials({ cookie: await logIn(auth) });
  const goodOnes = async (): Promise<boolean[]> =>
    Promise.all([expiring, main, browser].map(async (each) => auth.isStillGood(each)));
  expect(await goodOnes()).toEqual([true, true, true]);
  world.nowMs += 1_000;
  expect(await goodOnes()).toEqual([false, true, true]);
  world.token = "c".repeat(64);
  expect(await goodOnes()).toEqual([false, false, false]);
});

test("a token that was replaced counts at once, and the old one does not any more", async () => {
  const { auth, world } = openAuth();
  const cookie = await logIn(auth);
  world.token = "c".repeat(64);
  await auth.check(credentials({ authorization: `Bearer ${world.token}` }));
  await expect(auth.check(credentials({ authorization: `Bearer ${TOKEN}` }))).rejects.toThrow(
    "Invalid token or link",
  );
  await expect(auth.check(credentials({ cookie }))).rejects.toThrow("Invalid token or link");
});

test("ten thousand guesses are refused after the first few, from this machine too; the right token still counts", async () => {
  const { auth, world } = openAuth();
  const codes: string[] = [];
  for (let guess = 0; guess < 10_000; guess++) {
    const authorization = `Bearer ${String(guess).padStart(64, "0")}`;
    await auth
      .check(credentials({ authorization }))
      .catch((error: { code: string }) => codes.push(error.code));
  }
  expect(codes.slice(0, MAX_FAILURES)).toEqual(Array(MAX_FAILURES).fill("auth_failed"));
  expect(new Set(codes.slice(MAX_FAILURES))).toEqual(new Set(["auth_limited"]));
  expect(codes).toHaveLength(10_000);
  await auth.check(credentials({ authorization: `Bearer ${TOKEN}` }));
  const wrong = { authorization: "Bearer wrong" };
  await expect(auth.check(credentials({ ...wrong, address: "10.0.0.9" }))).rejects.toMatchObject({
    code: "auth_failed",
  });

  world.nowMs += FAILURE_WINDOW_MS;
  await expect(auth.check(credentials(wrong))).rejects.toMatchObject({ code: "auth_failed" });
});

test("whoever shows nothing guesses nothing", async () => {
  const { auth } = openAuth();
  for (let request = 0; request < 2 * MAX_FAILURES; request++) {
    await expect(auth.check(credentials({}))).rejects.toMatchObject({ code: "auth_failed" });
  }
});

test("the addresses that failed are remembered up to a number", () => {
  const limit = new FailureLimit(() => 0);
  for (let address = 0; address < MAX_ADDRESSES + 10; address++) limit.fail(String(address));
  expect(limit.size).toBe(MAX_ADDRESSES);
});

test("a link logs one browser in, once", async () => {
  const { auth } = openAuth();
  const secret = auth.makeLink();
  const cookie = await auth.redeem(secret, "127.0.0.1");
  expect(cookie).toMatch(/^cortex-4747=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
  expect(cookie).not.toContain(TOKEN);
  await auth.check(credentials({ cookie: `theme=dark; ${cookie.split(";")[0]}` }));
  await expect(auth.redeem(secret, "127.0.0.1")).rejects.toMatchObject({ code: "auth_failed" });
});

test("a link ends after a while, and when there are too many newer ones", async () => {
  const { auth, world } = openAuth();
  const late = auth.makeLink();
  world.nowMs += LINK_MS;
  await expect(auth.redeem(late, "127.0.0.1")).rejects.toMatchObject({ code: "auth_failed" });

  const first = auth.makeLink();
  const others = Array.from({ length: MAX_LINKS }, () => auth.makeLink());
  await expect(auth.redeem(first, "127.0.0.1")).rejects.toMatchObject({ code: "auth_failed" });
  await auth.redeem(others[0]!, "127.0.0.1");
});

test("guessed links count as guesses", async () => {
  const { auth } = openAuth();
  for (let guess = 0; guess < MAX_FAILURES; guess++) await auth.redeem("x", "127.0.0.1").catch(() => {});
  await expect(auth.redeem("x", "127.0.0.1")).rejects.toMatchObject({
    code: "auth_limited",
    retryAfterMs: FAILURE_WINDOW_MS,
  });
});

test("a browser stays logged in for a month, and no cookie can be changed to last longer", async () => {
  const { auth, world } = openAuth();
  const cookie = await logIn(auth);
  const longer = cookie.replace(/=\d+/, `=${world.nowMs + 2 * PASS_MS}`);
  await expect(auth.check(credentials({ cookie: longer }))).rejects.toThrow("Invalid token or link");
  world.nowMs += PASS_MS - 1;
  await auth.check(credentials({ cookie }));
  world.nowMs += 1;
  await expect(auth.check(credentials({ cookie }))).rejects.toThrow("Invalid token or link");
});

test.each([
  "cortex-4747=",
  "cortex-4747=1",
  "cortex-4747=NaN.x",
  "cortex-4747=99999999999999.",
  "cortex-4748=x",
])("the cookie %j is worth nothing", async (cookie) => {
  const { auth } = openAuth();
  await expect(auth.check(credentials({ cookie }))).rejects.toMatchObject({ code: "auth_failed" });
});

const OURS = "http://127.0.0.1:4747";
test.each<[string, Partial<ClientCredentials>, string]>([
  ["reads", { method: "GET" }, "let in"],
  ["reads, for a page of another port", { method: "GET", fetchSite: "same-site" }, "origin_forbidden"],
  ["reads, for a page of another site", { method: "GET", fetchSite: "cross-site" }, "origin_forbidden"],
  ["reads, because a person typed the address", { method: "GET", fetchSite: "none" }, "let in"],
  ["writes", { method: "POST" }, "origin_forbidden"],
  ["deletes", { method: "DELETE" }, "origin_forbidden"],
  ["writes for a page of ours", { method: "POST", origin: OURS, fetchSite: "same-origin" }, "let in"],
  ["writes with our header", { method: "PATCH", marker: "1" }, "let in"],
  ["writes with another header", { method: "PATCH", marker: "0" }, "origin_forbidden"],
  [
    "writes with our header for another port",
    { method: "POST", marker: "1", fetchSite: "same-site" },
    "origin_forbidden",
  ],
])("that a browser with a cookie %s (%j) ends as %s", async (_, given, outcome) => {
  const { auth } = openAuth();
  const cookie = await logIn(auth);
  const checked = auth.check(credentials({ ...given, cookie }));
  const code = await checked.then(
    () => "let in",
    (error: { code: string }) => error.code,
  );
  expect(code).toBe(outcome);
});

test("a token that cannot be read is told to nobody by its path", async () => {
  const token = async () => Promise.reject(new Error("/home/ann/.cortex/data/token is a symbolic link"));
  const records = new Records();
  const store = { tokens: records, audit: records };
  const auth = new Auth({ token, store, clock: () => 0, port: 4747, log: () => {} });
  const failure = await auth
    .check(credentials({ authorization: "Bearer x" }))
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "token_unsafe", cause: expect.anything() });
  expect(String(failure) + (failure as { hint: string }).hint).not.toContain("/home/ann");
});
