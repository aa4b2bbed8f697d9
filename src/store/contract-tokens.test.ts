/** What every store promises about scoped tokens. */
import { describe, expect, test } from "vitest";

import { START_MS } from "../../test/support/sample.ts";
import { STORES } from "../../test/support/stores.ts";
import { MAX_TOKENS, type NewToken } from "./store.ts";

const by = { principal: "owner" };

function token(name: string, fields: Partial<NewToken> = {}): NewToken {
  return { id: `id-${name}`, name, hash: `hash of ${name}`, can: ["read", "send"], ...fields };
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("a token is found by its hash, and by nothing else", async () => {
    await using opened = await open();
    const { tokens } = opened.store;
    const expiresAtMs = START_MS + 1;
    const created = await tokens.create(token("ci", { person: "ada", expiresAtMs }), by);
    expect(created).toEqual({
      id: "id-ci",
      name: "ci",
      can: ["read", "send"],
      person: "ada",
      expiresAtMs,
      createdAtMs: START_MS,
      revokedAtMs: undefined,
      lastUsedAtMs: undefined,
    });
    expect(await tokens.find("hash of ci")).toEqual(created);
    expect(await tokens.find("id-ci")).toBeUndefined();
    expect(await tokens.find("ci")).toBeUndefined();
  });

  test("a revoked token stays listed, and revoking it again changes nothing", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    await store.tokens.create(token("ci"), by);
    clock.advance(5);
    const revoked = await store.tokens.revoke("id-ci", by);
    clock.advance(5);
    expect(await store.tokens.revoke("id-ci", by)).toEqual(revoked);
    expect(revoked.revokedAtMs).toBe(START_MS + 5);
    expect(await store.tokens.find("hash of ci")).toEqual(revoked);
    expect((await store.audit.list()).items.map(({ kind }) => kind)).toEqual([
      "token.revoke",
      "token.create",
    ]);
  });

  test("a name belongs to one token until it is revoked", async () => {
    await using opened = await open();
    const { tokens } = opened.store;
    await tokens.create(token("ci"), by);
    await tokens.create(token("ci"), by); // the same call again
    const other = token("ci", { id: "other", hash: "other" });
    await expect(tokens.create(other, by)).rejects.toMatchObject({ code: "state_conflict" });
    await tokens.revoke("id-ci", by);
    expect(await tokens.create(other, by)).toMatchObject({ id: "other" });
    expect((await tokens.list()).items.map(({ id }) => id)).toEqual(["other", "id-ci"]);
  });

  test("an unknown token cannot be revoked", async () => {
    await using opened = await open();
    await expect(opened.store.tokens.revoke("nothing", by)).rejects.toMatchObject({ code: "token_unknown" });
    expect((await opened.store.audit.list()).items).toEqual([]);
  });

  test("the last use of a token is noted", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    await store.tokens.create(token("ci"), by);
    clock.advance(7);
    await store.tokens.used("id-ci");
    expect(await store.tokens.find("hash of ci")).toMatchObject({ lastUsedAtMs: START_MS + 7 });
  });

  test("lists come in pages, newest first, and the number of tokens in use is bounded", async () => {
    await using opened = await open();
    const { tokens } = opened.store;
    await Promise.all(Array.from({ length: MAX_TOKENS }, (_, n) => tokens.create(token(`t${n}`), by)));
    await expect(tokens.create(token("more"), by)).rejects.toMatchObject({ code: "limit_invalid" });
    const first = await tokens.list({ limit: 2 });
    expect(first.items.map(({ name }) => name)).toEqual([`t${MAX_TOKENS - 1}`, `t${MAX_TOKENS - 2}`]);
    const second = await tokens.list({ limit: 1, cursor: first.next! });
    expect(second.items.map(({ name }) => name)).toEqual([`t${MAX_TOKENS - 3}`]);
    await tokens.revoke("id-t0", by);
    expect(await tokens.create(token("more"), by)).toMatchObject({ name: "more" });
  });
});
