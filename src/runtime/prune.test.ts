import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { START_MS, testClock } from "../../test/support/sample.ts";
import { finishTurn } from "../../test/support/stores.ts";
import { memoryParent, temporaryFolder } from "../../test/support/temporary.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { databasePath } from "./home.ts";
import { MIN_PRUNED_AGE_MS, pruneHome, pruneStore, readPrunable } from "./prune.ts";
import { verifyHome } from "./verify.ts";

const refusal = (code: string) =>
  expect.objectContaining({ name: "CortexError", code, hint: expect.any(String) });

const nowMs = START_MS + 10 * MIN_PRUNED_AGE_MS;
const when = { beforeMs: nowMs - MIN_PRUNED_AGE_MS, nowMs };

/** A home with some turns in sessions that nobody uses any more, and nobody on it. */
async function makeHome(home: string, turns: number): Promise<void> {
  await using store = await openSqliteStore({ path: databasePath(home), clock: testClock() });
  for (let i = 0; i < turns; i++) await finishTurn(store, `e${i}`, `session-${i % 7}`);
}

test("a home that nobody has open is pruned to the last row, and only once", async () => {
  using folder = temporaryFolder(memoryParent());
  await makeHome(folder.path, 230); // more than two steps
  const expected = { turns: 230, events: 230, deliveries: 0, approvals: 0, relays: 0 };
  expect(await readPrunable(folder.path, when)).toMatchObject(expected);
  expect(await pruneHome(folder.path, when)).toEqual(expected);
  expect(await pruneHome(folder.path, when)).toMatchObject({ turns: 0, events: 0 });
  expect(verifyHome(folder.path)).toEqual({ ok: true, turns: 230, pruned: 230 });
});

test("what is pruned cannot be found in the file any more", async () => {
  using folder = temporaryFolder(memoryParent());
  await makeHome(folder.path, 30);
  const holds = (text: string): boolean =>
    spawnSync("grep", ["-qaF", text, databasePath(folder.path)]).status === 0;
  expect([holds("question of"), holds("message e7")]).toEqual([true, true]);
  await pruneHome(folder.path, when);
  expect([holds("question of"), holds("message e7")]).toEqual([false, false]);
});

test("a moment that is less than a day ago is refused, and so is none", async () => {
  using folder = temporaryFolder(memoryParent());
  await makeHome(folder.path, 1);
  for (const beforeMs of [nowMs - MIN_PRUNED_AGE_MS + 1, nowMs + 1, Number.NaN]) {
    await expect(pruneHome(folder.path, { beforeMs, nowMs })).rejects.toEqual(refusal("limit_invalid"));
    await expect(readPrunable(folder.path, { beforeMs, nowMs })).rejects.toEqual(refusal("limit_invalid"));
  }
});

test("a home that is in use, or is none, is left alone", async () => {
  using folder = temporaryFolder(memoryParent());
  await expect(pruneHome(folder.path, when)).rejects.toEqual(refusal("store_missing"));
  await using store = await openSqliteStore({ path: databasePath(folder.path), clock: testClock() });
  await expect(pruneHome(folder.path, when)).rejects.toEqual(refusal("store_locked"));
  expect(await pruneStore(store, when)).toMatchObject({ turns: 0 });
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
  expect(await readPrunable(home, when)).toMatchObject({ turns: 0, events: 0 });
});
