import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { expect, test } from "vitest";

import { openWarmStore } from "../../test/support/open-store.ts";
import {
  alice,
  dispatch,
  event,
  message,
  START_MS,
  testClock,
  toSession,
  turnFor,
} from "../../test/support/sample.ts";
import { canMountSmallDisk, runOnSmallDisk } from "../../test/support/small-disk.ts";
import { finishTurn } from "../../test/support/stores.ts";
import { memoryParent, temporaryFolder } from "../../test/support/temporary.ts";
import type { Claim } from "../store/store.ts";
import { databasePath } from "../config/home.ts";
import { MIN_PRUNED_AGE_MS, pruneHome, pruneStore, countPrunable } from "./prune.ts";
import { verifyHome } from "./verify-command.ts";

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

const nowMs = START_MS + 10 * MIN_PRUNED_AGE_MS;
const when = { beforeMs: nowMs - MIN_PRUNED_AGE_MS, nowMs };

/** A home with some turns in sessions that nobody uses any more, and nobody on it. */
async function makeHome(home: string, turns: number): Promise<void> {
  await using store = await openWarmStore({ path: databasePath(home), clock: testClock() });
  for (let i = 0; i < turns; i++) await finishTurn(store, `e${i}`, `session-${i % 7}`);
}

test("a home that nobody has open is pruned to the last row, and only once", async () => {
  using folder = temporaryFolder(memoryParent());
  await makeHome(folder.path, 230); // more than two steps
  const expected = { turns: 230, events: 230, deliveries: 0, approvals: 0, relays: 0 };
  expect(await countPrunable(folder.path, when)).toMatchObject(expected);
  expect(await pruneHome(folder.path, when)).toEqual({ pruned: expected, isRewritten: true });
  expect(await pruneHome(folder.path, when)).toMatchObject({ pruned: { turns: 0, events: 0 } });
  expect(verifyHome(folder.path)).toEqual({ ok: true, turns: 230, pruned: 230, audited: 0 });
});

/** Turns that are long and short and grow side by side, so that rows move in the file while it is written. */
async function makeWornHome(home: string, turns: number): Promise<void> {
  await using store = await openWarmStore({ path: databasePath(home), clock: testClock() });
  const open: Claim[] = [];
  const finish = async (claim: Claim, length: number): Promise<void> => {
    const said = [
      message(`q-${claim.turn}`, "user", "mysecret question"),
      message(claim.turn, "assistant", `mysecret answer ${"x".repeat(length)}`),
    ];
    await store.runs.pin(claim.lease, claim.run, { system: "mysecret prompt" });
    await store.turns.commit(turnFor(claim, { messages: said }));
  };
  for (let i = 0; i < turns; i++) {
    const said = event(`e${i}`, { content: `mysecret ${i}`, payload: { said: "mysecret", i } });
    const sent = dispatch(`e${i}`, toSession(`s${i}`), { message: `mysecret ${i}` });
    const { dispatched } = await store.events.accept(said, { dispatch: sent, claim: alice });
    open.push(dispatched!.claim!);
    if (open.length === 8) await finish(open.splice((i * 5) % 8, 1)[0]!, (i * 1_237) % 12_000);
    if (i % 9 === 0) await store.events.index(5);
  }
  for (const claim of open) await finish(claim, 0);
  while ((await store.events.index(100)).indexed > 0);
}

function holdsSecret(path: string): boolean {
  return existsSync(path) && readFileSync(path, "latin1").includes("mysecret");
}

test("what is pruned cannot be found in the file any more", async () => {
  using folder = temporaryFolder(memoryParent());
  const path = databasePath(folder.path);
  await makeWornHome(folder.path, 120);
  const { size } = statSync(path);
  expect(holdsSecret(path)).toBe(true);
  expect(await pruneHome(folder.path, when)).toMatchObject({ pruned: { turns: 120 }, isRewritten: true });
  expect(holdsSecret(path)).toBe(false);
  expect(statSync(path).size).toBeLessThan(size);
  expect(readdirSync(dirname(path)).filter((name) => name.startsWith("cortex.db-"))).toEqual([]);
});

test("while it is open, it is in no row, in no word of the index and not in the log", async () => {
  using folder = temporaryFolder(memoryParent());
  const path = databasePath(folder.path);
  await makeWornHome(folder.path, 120);
  const clock = testClock();
  clock.advance(nowMs - START_MS);
  await using store = await openWarmStore({ path, clock });
  await finishTurn(store, "new", "new");
  await pruneStore(store, { home: folder.path, ...when });
  expect(holdsSecret(`${path}-wal`)).toBe(false);
  const db = new Database(path, { readonly: true });
  const names = db.prepare<[], string>("select name from sqlite_schema where type = 'table'").pluck().all();
  const rows = names
    .filter((name) => name !== "search")
    .flatMap((name) => db.prepare<[], object>(`select * from ${name}`).all());
  db.close();
  const texts = rows
    .flatMap(Object.values)
    .map((value) => (Buffer.isBuffer(value) ? value.toString("latin1") : value));
  expect(texts.filter((text) => String(text).includes("mysecret"))).toEqual([]);
  expect(await store.events.search("message new")).toHaveLength(1);
});

test("a moment that is less than a day ago is refused, and so is none", async () => {
  using folder = temporaryFolder(memoryParent());
  await makeHome(folder.path, 1);
  const cases = [
    [nowMs - MIN_PRUNED_AGE_MS + 1, /^The cutoff \S+Z is too recent$/],
    [nowMs + 1, /^The cutoff \S+Z is too recent$/],
    [Number.NaN, /^Invalid cutoff NaN$/],
    [0.5, /^Invalid cutoff 0\.5$/],
    [Number.MAX_SAFE_INTEGER, /^Invalid cutoff 9007199254740991$/],
  ] as const;
  for (const [beforeMs, message] of cases) {
    const refused = { code: "limit_invalid", message: expect.stringMatching(message) };
    await expect(pruneHome(folder.path, { beforeMs, nowMs })).rejects.toMatchObject(refused);
    await expect(countPrunable(folder.path, { beforeMs, nowMs })).rejects.toMatchObject(refused);
  }
});

test("a home that is in use, or is none, is left alone", async () => {
  using folder = temporaryFolder(memoryParent());
  await expect(pruneHome(folder.path, when)).rejects.toEqual(refusal("store_missing"));
  await using store = await openWarmStore({ path: databasePath(folder.path), clock: testClock() });
  await expect(pruneHome(folder.path, when)).rejects.toEqual(refusal("store_locked"));
  expect(await pruneStore(store, { home: folder.path, ...when })).toMatchObject({ turns: 0 });
});

test("killed after any step, it leaves a ledger that is good, and the next one goes on", async () => {
  const child = fileURLToPath(new URL("../../test/support/prune-child.ts", import.meta.url));
  using folder = temporaryFolder(memoryParent());
  const home = join(folder.path, "home");
  await makeHome(home, 120);
  let pruned = 0;
  for (let steps = 1, isAtEnd = false; !isAtEnd; steps++) {
    const args = [child, home, String(steps), String(when.beforeMs)];
    const { signal, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(stderr).toBe("");
    isAtEnd = signal !== "SIGKILL";
    const verdict = verifyHome(home);
    expect(verdict).toMatchObject({ ok: true, turns: 120 });
    expect(verdict.ok && verdict.pruned).toBeGreaterThanOrEqual(pruned);
    pruned = verdict.ok ? verdict.pruned : 0;
  }
  expect(pruned).toBe(120);
  expect(await countPrunable(home, when)).toMatchObject({ turns: 0, events: 0 });
});

test.runIf(canMountSmallDisk())("a disk that is nearly full is not filled by pruning", async () => {
  const program = new URL("../../test/support/prune-on-full-disk.ts", import.meta.url);
  const { said, code } = await runOnSmallDisk("8m", program);
  expect({ said, code }).toEqual({ said: "", code: 0 });
});
