/** The ledger: whether it opens and is whole, who has it, and whether its clock is ours. */
import { readFile } from "node:fs/promises";

import { CortexError } from "../model/errors.ts";
import type { Ledger } from "../store/store.ts";
import { type Check, fail, failure, ok, warn } from "./doctor-check.ts";
import { databasePath } from "./home.ts";
import { openLedger } from "./inspect.ts";
import { isAlive } from "./is-alive.ts";

/** A large database takes longer to be read, and is then not read to its end. */
const QUICK_CHECK_MS = 10_000;
/** Clocks of machines that talk to each other may differ by this. */
export const CLOCK_DOUBT_MS = 5 * 60_000;
/** No clock that is right shows a time before Cortex was written. */
export const EARLIEST_MS = Date.UTC(2026, 0, 1);

export async function checkStore(home: string, nowMs: number): Promise<Check[]> {
  const lock = await checkLock(home);
  try {
    await using ledger = await openLedger(home);
    return [await checkWhole(ledger), ...lock, await checkClock(ledger, nowMs)];
  } catch (error) {
    const isNew = error instanceof CortexError && error.code === "store_missing";
    return [isNew ? ok("store", "none yet") : failure("store", error), ...lock, checkYear(nowMs)];
  }
}

async function checkWhole(ledger: Ledger): Promise<Check> {
  try {
    const rows = await ledger.query("select quick_check as problem from pragma_quick_check limit 1", [], {
      deadlineMs: QUICK_CHECK_MS,
    });
    const problem = String(rows[0]?.["problem"]);
    const { events, turns, sessions } = await ledger.counts();
    if (problem === "ok") return ok("store", `whole; ${events} events, ${turns} turns, ${sessions} sessions`);
    return damaged(problem);
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    if (error.code !== "query_timeout") return damaged(error.message);
    const seconds = QUICK_CHECK_MS / 1_000;
    return warn(
      "store",
      `The database was not read to its end in ${seconds} s`,
      "`cortex verify` takes its time.",
    );
  }
}

function damaged(problem: string): Check {
  return fail("store", `The database is damaged: ${problem}`, "Restore a backup; docs/store.md says how.");
}

/** The note of whoever has the database. What holds others off is not the note, so one that was left does no harm. */
async function checkLock(home: string): Promise<Check[]> {
  const note = await readFile(`${databasePath(home)}.lock`, "utf8").catch(() => undefined);
  if (note === undefined) return [];
  const { pid, startedAt } = readNote(note);
  if (isAlive(pid)) return [ok("lock", `process ${pid} has the database since ${startedAt}`)];
  return [
    warn(
      "lock",
      `Process ${pid} had the database and is gone: it was killed, or the machine stopped`,
      "`cortex up` takes over from where it was.",
    ),
  ];
}

function readNote(text: string): { pid: number; startedAt: string } {
  try {
    return JSON.parse(text) as ReturnType<typeof readNote>;
  } catch {
    return { pid: NaN, startedAt: "" }; // cut off while it was written
  }
}

async function checkClock(ledger: Ledger, nowMs: number): Promise<Check> {
  const { items } = await ledger.events.list({ limit: 1 });
  const aheadMs = (items[0]?.receivedAtMs ?? nowMs) - nowMs;
  if (aheadMs <= CLOCK_DOUBT_MS) return checkYear(nowMs);
  const minutes = Math.round(aheadMs / 60_000);
  return warn(
    "clock",
    `The newest event is from ${minutes} minutes in the future: the clock was wrong then, or is now`,
    "Set the clock; what is due by then waits until then.",
  );
}

function checkYear(nowMs: number): Check {
  const shown = new Date(nowMs).toISOString();
  if (nowMs >= EARLIEST_MS) return ok("clock", shown);
  return fail(
    "clock",
    `The clock shows ${shown}`,
    "Set it: with a wrong time, certificates and timers fail.",
  );
}
