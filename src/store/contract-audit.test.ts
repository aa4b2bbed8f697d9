/** What every store promises about its audit log. */
import { describe, expect, test } from "vitest";

import { session, START_MS } from "../../test/support/sample.ts";
import { begin, STORES } from "../../test/support/stores.ts";
import { HOUR_MS } from "../model/durations.ts";
import type { AgentId, ApprovalId, PersonaId } from "../model/ids.ts";
import { auditHash } from "../model/audit-hash.ts";
import type { AuditEntry, KeptPersona, NewApproval, NewAuditEntry, Store } from "./store.ts";

const login: NewAuditEntry = { principal: "owner", kind: "login", object: "127.0.0.1", detail: {} };

/** Without what the log adds. */
async function logged(store: Store): Promise<NewAuditEntry[]> {
  const { items } = await store.audit.list();
  return items
    .map(({ principal, kind, object, detail }) => ({ principal, kind, object, detail }))
    .toReversed();
}

async function ask(store: Store, requests: readonly Partial<NewApproval>[]): Promise<string> {
  const claim = await begin(store, "a");
  const whole = requests.map((request, n) => ({
    id: `a${n}` as ApprovalId,
    kind: "approval" as const,
    callHash: `hash ${n}`,
    request: { tool: "Bash", args: { command: "make" } },
    expiresAtMs: START_MS + HOUR_MS,
    ...request,
  }));
  await store.runs.suspend(claim.lease, claim.run, { id: "w", kind: "approval", detail: null }, whole);
  return claim.turn;
}

function persona(id: string, allow: readonly string[]): KeptPersona {
  return { id: id as PersonaId, identity: { name: id }, permissions: { allow }, mainSession: undefined };
}

describe.each(Object.entries(STORES))("%s", (_, open) => {
  test("entries are numbered, chained, and listed newest first in pages", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    for (const object of ["a", "b", "c"]) {
      await store.audit.append({ ...login, object, detail: { b: 1, a: [null] } });
      clock.advance(1_000);
    }
    const first = await store.audit.list({ limit: 2 });
    const rest = await store.audit.list({ limit: 2, cursor: first.next! });
    const entries = [...first.items, ...rest.items].toReversed();
    expect(entries.map(({ seq, object }) => [seq, object])).toEqual([
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ]);
    expect(rest.next).toBeUndefined();
    let before: Buffer | undefined;
    for (const { hash, ...entry } of entries)
      expect((before = auditHash(before, entry)).toString("hex")).toBe(hash);
  });

  test("a list can begin at a time, and be of one person", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    await store.audit.append(login);
    clock.advance(1_000);
    await store.audit.append({ ...login, principal: "ada" });
    await store.audit.append(login);
    const seqs = async (filter: object): Promise<number[]> =>
      (await store.audit.list(filter)).items.map(({ seq }: AuditEntry) => seq);
    expect(await seqs({ sinceMs: START_MS + 1_000 })).toEqual([3, 2]);
    expect(await seqs({ person: "ada" })).toEqual([2]);
    expect(await seqs({ person: "owner", sinceMs: START_MS + 1 })).toEqual([3]);
  });

  test("every answer to a request is an entry, in the same commit, without its text", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    const turnId = await ask(store, [{}, {}, {}, { kind: "question", request: { question: "Which?" } }]);
    await store.approvals.answer("a0" as ApprovalId, { kind: "approve", by: "owner", token: "phone" });
    await store.approvals.answer("a0" as ApprovalId, { kind: "approve", by: "owner", token: "phone" });
    await store.approvals.answer("a1" as ApprovalId, { kind: "deny", by: "owner", reason: "private reason" });
    await store.approvals.answer("a3" as ApprovalId, { kind: "answer", by: "ada", text: "private text" });
    await expect(
      store.approvals.answer("a1" as ApprovalId, { kind: "approve", by: "owner" }),
    ).rejects.toMatchObject({ code: "state_conflict" });
    clock.advance(HOUR_MS);
    await store.approvals.expire();
    const call = (n: number) => ({ tool: "Bash", callHash: `hash ${n}`, turnId });
    expect(await logged(store)).toEqual([
      { principal: "owner", kind: "approval.approve", object: "a0", detail: { ...call(0), token: "phone" } },
      { principal: "owner", kind: "approval.deny", object: "a1", detail: call(1) },
      { principal: "ada", kind: "question.answer", object: "a3", detail: { ...call(3), tool: null } },
      { principal: "cortex", kind: "approval.expire", object: "a2", detail: call(2) },
    ]);
  });

  test("what is decided about tokens is an entry", async () => {
    await using opened = await open();
    const { store } = opened;
    const by = { principal: "owner", token: "admin" };
    await store.tokens.create(
      { id: "1", name: "ci", hash: "secret hash", can: ["read"], expiresAtMs: START_MS },
      by,
    );
    await store.tokens.revoke("1", { principal: "owner" });
    expect(await logged(store)).toEqual([
      {
        principal: "owner",
        kind: "token.create",
        object: "1",
        detail: {
          name: "ci",
          can: ["read"],
          person: null,
          expiresAt: "2026-01-01T00:00:00.000Z",
          token: "admin",
        },
      },
      { principal: "owner", kind: "token.revoke", object: "1", detail: { name: "ci" } },
    ]);
  });

  test("the main token is an entry when it is another one", async () => {
    await using opened = await open();
    const { store } = opened;
    const by = { principal: "owner", token: "phone" };
    for (const fingerprint of ["one", "one", "two", "two"])
      await store.audit.noteOutside({ kind: "token.main", object: "main", fingerprint }, by);
    expect((await logged(store)).map(({ kind, detail }) => [kind, detail])).toEqual([
      ["token.main", { fingerprint: "one", before: null, token: "phone" }],
      ["token.main", { fingerprint: "two", before: "one", token: "phone" }],
    ]);
  });

  test("a cleared trust mark is an entry; a mark that is added, or was never there, is not", async () => {
    await using opened = await open();
    const { store } = opened;
    const work = session("work");
    const create = { agent: "main" as AgentId, persona: "atlas" as PersonaId };
    await store.sessions.configure(work, { trust: { untrusted: true, private: true } }, { create });
    await store.sessions.configure(work, { trust: { outward: false }, profile: "fast" });
    expect(await logged(store)).toEqual([]);
    const by = { principal: "owner", token: "phone" };
    await store.sessions.configure(work, { trust: { untrusted: false, outward: false } }, { by });
    await store.sessions.configure(work, { trust: null });
    expect(await logged(store)).toEqual([
      {
        principal: "owner",
        kind: "trust.clear",
        object: work,
        detail: { marks: ["untrusted"], token: "phone" },
      },
      { principal: "owner", kind: "trust.clear", object: work, detail: { marks: ["private"] } },
    ]);
  });

  test("a hook that is enabled or disabled is an entry with its version; one that was so before is not", async () => {
    await using opened = await open();
    const { store } = opened;
    const file = { name: "greet", mode: "persistent", digest: "v1", filter: null } as const;
    await store.hooks.sync([file]);
    await store.hooks.setEnabled("greet", true);
    await store.hooks.setEnabled("greet", false);
    await store.hooks.setEnabled("greet", false);
    await store.hooks.setEnabled("greet", true, { principal: "agent:main" });
    expect(await logged(store)).toEqual([
      { principal: "owner", kind: "hook.disable", object: "greet", detail: { digest: "v1" } },
      { principal: "agent:main", kind: "hook.enable", object: "greet", detail: { digest: "v1" } },
    ]);
  });

  test("a change of the configured personas and rights is an entry; the same ones again are not", async () => {
    await using opened = await open();
    const { store } = opened;
    const [a, b] = [persona("a", ["Read"]), persona("b", ["Bash"])];
    await store.syncPersonas([a, b], { paired: [] });
    await store.syncPersonas([a, b], { paired: [] });
    await store.syncPersonas([persona("a", ["*"])], { paired: [] });
    await store.syncPersonas([persona("a", ["*"])], { paired: ["42"] });
    const entries = await logged(store);
    expect(entries.map(({ kind }) => kind)).toEqual(Array(3).fill("config.personas"));
    expect(entries.map(({ detail }) => detail)).toMatchObject([
      { changed: ["a", "b"], removed: [] },
      { changed: ["a"], removed: ["b"] },
      { changed: [], removed: [] },
    ]);
    expect(new Set(entries.map(({ detail }) => (detail as { digest: string }).digest)).size).toBe(3);
  });

  test("verifying a whole log counts its entries, and pruning keeps them", async () => {
    await using opened = await open();
    const { store, clock } = opened;
    await store.audit.append(login);
    await store.audit.append(login);
    clock.advance(10 * HOUR_MS);
    for (const kind of ["turns", "events", "deliveries", "approvals", "relays"] as const)
      await store.prune(kind, { beforeMs: START_MS + 5 * HOUR_MS, max: 100 });
    expect(await store.verify()).toEqual({ ok: true, turns: 0, pruned: 0, audited: 2 });
  });
});
