/** Deletes old content, in an open store or in a home without a server. */
import { statfsSync, statSync } from "node:fs";

import { DAY_MS } from "../model/durations.ts";
import { CortexError } from "../model/errors.ts";
import type { Principal } from "../model/principal.ts";
import { rewriteDatabase } from "../store/sqlite/copy-database.ts";
import { forgetFiles } from "../store/kept-files.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { PRUNE_KINDS, type PruneKind, type PruneRequest, type Store } from "../store/store.ts";
import { attachmentsFolder, databasePath } from "../config/home.ts";
import { openLedger } from "../client/ledger.ts";

/** Younger content is never pruned: it may still be in use. */
export const MIN_PRUNED_AGE_MS = DAY_MS;
/** Rows per step: a few milliseconds of the writer, so that others do not wait long. */
const STEP_ROWS = 100;
/** How much the write-ahead log may grow before any space is freed, unless the database is smaller. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;

export type Pruned = Readonly<Record<PruneKind, number>>;

/** Reports the number of pruned rows of a kind so far. */
export type OnPruned = (kind: PruneKind, pruned: number) => void;

/** Prunes in steps. If interrupted, completed steps remain and the next run continues. */
export async function pruneStore(
  store: PrunedStore,
  { home, beforeMs, nowMs }: { readonly home: string; readonly beforeMs: number; readonly nowMs: number },
  onPruned: OnPruned = () => {},
): Promise<Pruned> {
  checkCutoff(beforeMs, nowMs);
  return pruneMatching(store, { home, beforeMs, nowMs }, onPruned);
}

/** Prunes what was said on the authority of some people, however young, and what was answered. */
export function prunePeople(
  store: PrunedStore,
  { home, principals, nowMs }: { home: string; principals: readonly Principal[]; nowMs: number },
): Promise<Pruned> {
  return pruneMatching(store, { home, principals, beforeMs: nowMs + 1, nowMs }, () => {});
}

type PrunedStore = Pick<Store, "prune" | "forgetPruned" | "events" | "outbox">;

async function pruneMatching(
  store: PrunedStore,
  { home, nowMs, ...which }: Pick<PruneRequest, "beforeMs" | "principals"> & { home: string; nowMs: number },
  onPruned: OnPruned,
): Promise<Pruned> {
  const pruned: Record<PruneKind, number> = { turns: 0, events: 0, deliveries: 0, approvals: 0, relays: 0 };
  for (const kind of PRUNE_KINDS) {
    let after: number | undefined;
    do {
      const step = await store.prune(kind, { ...which, after, max: STEP_ROWS });
      pruned[kind] += step.pruned;
      onPruned(kind, pruned[kind]);
      after = step.next;
    } while (after !== undefined);
  }
  await store.forgetPruned();
  const named = new Set([...(await store.events.filed()), ...(await store.outbox.filed())]);
  await forgetFiles(attachmentsFolder(home), (hash) => named.has(hash), nowMs - MIN_PRUNED_AGE_MS);
  return pruned;
}

/**
 * Prunes a home without a server and rewrites the database file. Throws `store_locked` if a server is running.
 * `isRewritten`: false if one was started meanwhile or there was not enough space; traces may remain in the file then.
 */
export async function pruneHome(
  home: string,
  when: { beforeMs: number; nowMs: number },
  onPruned?: OnPruned,
): Promise<{ pruned: Pruned; isRewritten: boolean }> {
  checkCutoff(when.beforeMs, when.nowMs);
  await (await openLedger(home))[Symbol.asyncDispose](); // never creates a home
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

/** Without enough space, pruning would fill the disk and leave it full. */
function checkRoom(path: string): void {
  const needed = Math.min(statSync(path).size, MAX_LOG_BYTES);
  const { bavail, bsize } = statfsSync(path);
  if (bavail * bsize >= needed) return;
  const size = Math.ceil(needed / 1024 / 1024);
  throw new CortexError("store_full", `Not enough disk space to prune: ${size} MiB needed next to ${path}`, {
    hint: "Nothing was changed. Free that much space, then run `cortex prune` again.",
  });
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

/** Counts prunable rows, with or without a running server. */
export async function countPrunable(home: string, when: { beforeMs: number; nowMs: number }) {
  checkCutoff(when.beforeMs, when.nowMs);
  await using ledger = await openLedger(home);
  return await ledger.prunable(when.beforeMs);
}

function checkCutoff(beforeMs: number, nowMs: number): void {
  const cutoff = new Date(beforeMs);
  if (cutoff.getTime() !== beforeMs) throw cutoffInvalid(`Invalid cutoff ${beforeMs}`);
  if (beforeMs > nowMs - MIN_PRUNED_AGE_MS)
    throw cutoffInvalid(`The cutoff ${cutoff.toISOString()} is too recent`);
}

function cutoffInvalid(message: string): CortexError {
  return new CortexError("limit_invalid", message, { hint: "Use a time at least a day ago." });
}
