/** The tree of sessions, each below the one that opened it, with its own costs and the total of its subtree. */
import type { SessionKey } from "../model/session-key.ts";
import { type Ledger, MAX_PAGE } from "../store/store.ts";
import { type SessionView, sessionView } from "../feature/views.ts";

/** Limits a tree to the most recently used sessions. */
const MAX_TREE_SESSIONS = 10_000;

/** The costs of committed turns. */
interface Spent {
  readonly turns: number;
  readonly costUsd: number;
  /** Turns with unknown price, which are not in `costUsd`. */
  readonly unpriced: number;
}

export interface SessionNode extends SessionView, Spent {
  /** Of the whole subtree. */
  readonly total: Spent;
  readonly children: SessionNode[];
}

/**
 * Top-level sessions are sorted by last use, newest first, and workers by creation. With `open`, omits closed sessions and
 * everything below them.
 */
export async function readSessionTree(
  ledger: Pick<Ledger, "sessions" | "turns">,
  { open = false, max = MAX_TREE_SESSIONS }: { readonly open?: boolean; readonly max?: number } = {},
): Promise<SessionNode[]> {
  const sessions = await allSessions(ledger, max);
  const tree = asTree(sessions, await readSpent(ledger, sessions));
  return open ? tree.filter(({ closed }) => !closed) : tree;
}

async function allSessions({ sessions }: Pick<Ledger, "sessions">, max: number): Promise<SessionView[]> {
  const found = new Map<string, SessionView>(); // a session used between two pages appears twice
  let cursor: string | undefined;
  do {
    const page = await sessions.list({ limit: MAX_PAGE, ...(cursor === undefined ? {} : { cursor }) });
    for (const session of page.items) found.set(session.key, sessionView(session));
    cursor = page.next;
  } while (cursor !== undefined && found.size < max);
  return [...found.values()].slice(0, max);
}

async function readSpent(
  { turns }: Pick<Ledger, "turns">,
  sessions: readonly SessionView[],
): Promise<ReadonlyMap<SessionKey, Spent>> {
  const spent = new Map<SessionKey, Spent>();
  const always = { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER };
  for (let from = 0; from < sessions.length; from += MAX_PAGE) {
    const keys = sessions.slice(from, from + MAX_PAGE).map(({ key }) => key);
    const rows = await turns.costs({ by: "session", ...always, sessions: keys, limit: MAX_PAGE });
    for (const { key, ...row } of rows) spent.set(key as SessionKey, row);
  }
  return spent;
}

/** A session without its parent becomes a root. */
function asTree(sessions: readonly SessionView[], spent: ReadonlyMap<SessionKey, Spent>): SessionNode[] {
  const keys = new Set(sessions.map(({ key }) => key));
  const below = Map.groupBy(sessions, ({ parentSession }) =>
    parentSession !== null && keys.has(parentSession) ? parentSession : null,
  );
  const grow = (session: SessionView): SessionNode => {
    const opened = (below.get(session.key) ?? []).toSorted(byCreation).map(grow);
    const { turns, costUsd, unpriced } = spent.get(session.key) ?? NOTHING;
    const own = { turns, costUsd, unpriced };
    return { ...session, ...own, total: opened.map(({ total }) => total).reduce(add, own), children: opened };
  };
  return (below.get(null) ?? []).map(grow);
}

const NOTHING: Spent = { turns: 0, costUsd: 0, unpriced: 0 };

function add(one: Spent, other: Spent): Spent {
  return {
    turns: one.turns + other.turns,
    costUsd: one.costUsd + other.costUsd,
    unpriced: one.unpriced + other.unpriced,
  };
}

/** Uses the key for sessions of the same millisecond, for a stable order. */
function byCreation(one: SessionView, other: SessionView): number {
  return compare(one.createdAt, other.createdAt) || compare(one.key, other.key);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
