/** The ledger: whether it opens and is whole, who has it, whether its clock is ours, and how its hooks do. */
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

/** A large database takes longer to be read, and is then not read to its end. */
const QUICK_CHECK_MS = 10_000;
/** Of what went wrong with a hook. */
const MAX_ERROR_LENGTH = 200;
/** Clocks of machines that talk to each other may differ by this. */
export const CLOCK_DOUBT_MS = 5 * 60_000;
/** No clock that is right shows a time before Cortex was written. */
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
        `whole; ${count(events, "event")}, ${count(turns, "turn")}, ${count(sessions, "session")}`,
      );
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
  return refusal("store", `The database is damaged: ${problem}`, "Restore a backup; docs/store.md says how.");
}

/** Notes of who has the database and where its server is. What holds others off is no note, so one that was left does no harm. */
async function checkNotes(home: string): Promise<Check[]> {
  const paths = [`${databasePath(home)}.lock`, serverNotePath(home)];
  const [lock, ...others] = await Promise.all(paths.map((path) => checkNote(home, path)));
  return [...(lock ?? []), ...others.flat().filter(({ state }) => state !== "ok")];
}

async function checkNote(home: string, path: string): Promise<Check[]> {
  const content = await readFile(path, "utf8").catch(() => undefined);
  if (content === undefined) return [];
  const { pid, startedAt } = readNote(content);
  if (isAlive(pid)) return [ok("lock", `process ${pid} has the database since ${startedAt}`)];
  return [
    warn(
      "lock",
      `${relative(home, path)} is of process ${pid}, which is gone: it was killed, or the machine stopped`,
      "`cortex up` takes over from where it was.",
      { kind: "remove", path, content },
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
    `The newest event is from ${count(minutes, "minute")} in the future: the clock was wrong then, or is now`,
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

/** Those that cannot be loaded, and those that are paused after repeated failures. */
function checkHooks(hooks: readonly StoredHook[]): Check[] {
  const present = hooks.filter((hook) => hook.present);
  if (present.length === 0) return [];
  const broken = present.filter(({ state }) => state === "errored" || state === "open");
  const active = present.filter(({ state }) => state === "active").length;
  if (broken.length === 0)
    return [ok("hooks", `${present.length}, of which ${active} ${active === 1 ? "is" : "are"} active`)];
  return broken.slice(0, MAX_HOOKS_NAMED).map(({ name, state, error = "" }) => {
    const what = state === "errored" ? "cannot be loaded" : "is paused after repeated failures";
    const why = error.split("\n")[0]!.slice(0, MAX_ERROR_LENGTH);
    return warn("hooks", `${name} ${what}: ${why}`, `\`cortex hooks show ${name}\` shows it.`);
  });
}
