/** Forgetting what is old: in a store that is open, or in one that nobody has open. */
import { statfsSync, statSync } from "node:fs";

import { DAY_MS } from "../model/durations.ts";
import { CortexError } from "../model/errors.ts";
import { rewriteDatabase } from "../store/sqlite/copy-database.ts";
import { forgetFiles } from "../store/kept-files.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { PRUNE_KINDS, type PruneKind, type Store } from "../store/store.ts";
import { attachmentsFolder, databasePath } from "../config/home.ts";
import { openLedger } from "../client/ledger.ts";

/** What is younger is not pruned: somebody may be in the middle of it. */
export const MIN_PRUNED_AGE_MS = DAY_MS;
/** What one step takes: some milliseconds of the writer, so that others need not wait long. */
const STEP_ROWS = 100;
/** What the log of writes may grow to before anything is freed, where the database is not smaller. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;

export type Pruned = Readonly<Record<PruneKind, number>>;

/** How far it is: so many of a kind are done. */
export type OnPruned = (kind: PruneKind, pruned: number) => void;

/** Prunes in steps. One that is cut off leaves what it has done, and is gone on with by the next. */
export async function pruneStore(
  store: Pick<Store, "prune" | "forgetPruned" | "events">,
  { home, beforeMs, nowMs }: { readonly home: string; readonly beforeMs: number; readonly nowMs: number },
  onPruned: OnPruned = () => {},
): Promise<Pruned> {
  checkMoment(beforeMs, nowMs);
  const pruned: Record<PruneKind, number> = { turns: 0, events: 0, deliveries: 0, approvals: 0, relays: 0 };
  for (const kind of PRUNE_KINDS) {
    let after: number | undefined;
    do {
      const step = await store.prune(kind, { beforeMs, after, max: STEP_ROWS });
      pruned[kind] += step.pruned;
      onPruned(kind, pruned[kind]);
      after = step.next;
    } while (after !== undefined);
  }
  await store.forgetPruned();
  const named = new Set(await store.events.filed());
  await forgetFiles(attachmentsFolder(home), (hash) => named.has(hash), nowMs - MIN_PRUNED_AGE_MS);
  return pruned;
}

/**
 * Opens the store of a home that no Cortex runs on, and writes its file anew. Throws `store_locked` where one does.
 * `isRewritten`: false where one was started meanwhile, or there was no room, so that traces may stay in the file.
 */
export async function pruneHome(
  home: string,
  when: { beforeMs: number; nowMs: number },
  onPruned?: OnPruned,
): Promise<{ pruned: Pruned; isRewritten: boolean }> {
  checkMoment(when.beforeMs, when.nowMs);
  await (await openLedger(home))[Symbol.asyncDispose](); // makes no home where there is none
  checkRoom(databasePath(home));
  const pruned = await openAndPrune(home, when, onPruned);
  return { pruned, isRewritten: rewrite(databasePath(home)) };
}

async function openAndPrune(
  home: string,
  when: { beforeMs: number; nowMs: number },
  onPruned: OnPruned | undefined,
): Promise<Pruned> {
  await using store = await openSqliteStore({ path: databasePath(home), clock: Date.now });
  return await pruneStore(store, { home, ...when }, onPruned);
}

/** One that began without it would fill the disk, and leave it so. */
function checkRoom(path: string): void {
  const needed = Math.min(statSync(path).size, MAX_LOG_BYTES);
  const { bavail, bsize } = statfsSync(path);
  if (bavail * bsize >= needed) return;
  const size = Math.ceil(needed / 1024 / 1024);
  throw new CortexError(
    "store_full",
    `There is no room to prune: it takes ${size} MiB beside ${path} before it frees any`,
    {
      hint: "Free as much space, then do it again. Nothing was changed.",
    },
  );
}

function rewrite(path: string): boolean {
  try {
    rewriteDatabase(path);
    return true;
  } catch (error) {
    if (error instanceof CortexError && ["store_full", "store_locked"].includes(error.code)) return false;
    throw error;
  }
}

/** Counts what would go, beside a Cortex that runs or without one. */
export async function countPrunable(home: string, when: { beforeMs: number; nowMs: number }) {
  checkMoment(when.beforeMs, when.nowMs);
  await using ledger = await openLedger(home);
  return await ledger.prunable(when.beforeMs);
}

function checkMoment(beforeMs: number, nowMs: number): void {
  if (Number.isSafeInteger(beforeMs) && beforeMs <= nowMs - MIN_PRUNED_AGE_MS) return;
  const when = Number.isFinite(beforeMs) ? new Date(beforeMs).toISOString() : String(beforeMs);
  throw new CortexError("limit_invalid", `What is from just before ${when} cannot be pruned`, {
    hint: "Name a moment that is at least a day ago: what is newer may still be needed.",
  });
}
