/** Checks the ledger: its integrity, its lock, the clock, and the state of hooks. */
import { readFile } from "node:fs/promises";
import { relative } from "node:path";

import { count } from "../model/count.ts";
import { CortexError } from "../model/errors.ts";
import type { Ledger, StoredHook } from "../store/store.ts";
import { type Check, fail, ok, refusal, refusalBy, warn } from "../feature/check.ts";
import { databasePath, serverNotePath } from "../config/home.ts";
import { openLedger } from "../client/ledger.ts";
import { isAlive } from "../programs/is-alive.ts";
import { MAX_HOOKS_NAMED } from "../insight/measure.ts";

/** A check of a large database is cut off after this. */
const QUICK_CHECK_MS = 10_000;
/** Longer errors of hooks are cut. */
const MAX_ERROR_LENGTH = 200;
/** Clocks of different machines may differ by this. */
export const CLOCK_DOUBT_MS = 5 * 60_000;
/** No correct clock shows a time before Cortex was written. */
export const EARLIEST_MS = Date.UTC(2026, 0, 1);

export async function checkStore(home: string, nowMs: number): Promise<Check[]> {
  const notes = await checkNotes(home);
  try {
    await using ledger = await openLedger(home);
    return [
      await checkWhole(ledger),
      ...notes,
      await checkClock(ledger, nowMs),
      ...checkHooks(await ledger.hooks.list()),
    ];
  } catch (error) {
    const isNew = error instanceof CortexError && error.code === "store_missing";
    return [isNew ? ok("store", "none yet") : refusalBy("store", error), ...notes, checkYear(nowMs)];
  }
}

async function checkWhole(ledger: Ledger): Promise<Check> {
  try {
    const rows = await ledger.query("select quick_check as problem from pragma_quick_check limit 1", [], {
      deadlineMs: QUICK_CHECK_MS,
    });
    const problem = String(rows[0]?.["problem"]);
    const { events, turns, sessions } = await ledger.counts();
    if (problem === "ok")
      return ok(
        "store",
        `intact; ${count(events, "event")}, ${count(turns, "turn")}, ${count(sessions, "session")}`,
      );
    return damaged(problem);
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    if (error.code !== "query_timeout") return damaged(error.message);
    const seconds = QUICK_CHECK_MS / 1_000;
    return warn(
      "store",
      `The check did not finish within ${seconds} s`,
      "Run `cortex verify` for a full check.",
    );
  }
}

function damaged(problem: string): Check {
  return refusal("store", `The database is damaged: ${problem}`, "Restore a backup; see docs/store.md.");
}

/** Notes on who has the database open and where the server is. The real lock is held by the system, so a stale note is harmless. */
async function checkNotes(home: string): Promise<Check[]> {
  const paths = [`${databasePath(home)}.lock`, serverNotePath(home)];
  const [lock, ...others] = await Promise.all(paths.map((path) => checkNote(home, path)));
  return [...(lock ?? []), ...others.flat().filter(({ state }) => state !== "ok")];
}

async function checkNote(home: string, path: string): Promise<Check[]> {
  const content = await readFile(path, "utf8").catch(() => undefined);
  if (content === undefined) return [];
  const { pid, startedAt } = readNote(content);
  if (isAlive(pid)) return [ok("lock", `held by process ${pid} since ${startedAt}`)];
  return [
    warn(
      "lock",
      `Stale ${relative(home, path)} of process ${pid}, which was killed or went down with the machine`,
      "Harmless: `cortex up` recovers and continues.",
      { kind: "remove", path, content },
    ),
  ];
}

function readNote(text: string): { pid: number; startedAt: string } {
  try {
    return JSON.parse(text);
  } catch {
    return { pid: NaN, startedAt: "" }; // truncated by a crash
  }
}

async function checkClock(ledger: Ledger, nowMs: number): Promise<Check> {
  const { items } = await ledger.events.list({ limit: 1 });
  const aheadMs = (items[0]?.receivedAtMs ?? nowMs) - nowMs;
  if (aheadMs <= CLOCK_DOUBT_MS) return checkYear(nowMs);
  const minutes = Math.round(aheadMs / 60_000);
  return warn(
    "clock",
    `The newest event is ${count(minutes, "minute")} in the future: the clock was or is wrong`,
    "Set the clock; anything scheduled by it waits until then.",
  );
}

function checkYear(nowMs: number): Check {
  const shown = new Date(nowMs).toISOString();
  if (nowMs >= EARLIEST_MS) return ok("clock", shown);
  return fail(
    "clock",
    `The clock shows ${shown}`,
    "Set the clock: with a wrong time, certificates and timers fail.",
  );
}

/** Reports hooks that failed to load and hooks paused after repeated failures. */
function checkHooks(hooks: readonly StoredHook[]): Check[] {
  const present = hooks.filter((hook) => hook.present);
  if (present.length === 0) return [];
  const broken = present.filter(({ state }) => state === "errored" || state === "open");
  const active = present.filter(({ state }) => state === "active").length;
  if (broken.length === 0) return [ok("hooks", `${active} of ${present.length} active`)];
  return broken.slice(0, MAX_HOOKS_NAMED).map(({ name, state, error = "" }) => {
    const what = state === "errored" ? "failed to load" : "is paused after repeated failures";
    const [why = ""] = error.slice(0, MAX_ERROR_LENGTH).split("\n");
    return warn("hooks", `${name} ${what}: ${why}`, `Run \`cortex hooks show ${name}\` for details.`);
  });
}
