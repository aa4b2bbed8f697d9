/** Each session below the one whose agent opened it, with what its turns have cost and what all below it have. */
import type { SessionKey } from "../model/session-key.ts";
import { type Ledger, MAX_PAGE } from "../store/store.ts";
import { type SessionView, sessionView } from "../feature/views.ts";

/** As many sessions as a tree is made of: those that were used last. */
const MAX_TREE_SESSIONS = 10_000;

/** Turns that are committed. */
interface Spent {
  readonly turns: number;
  readonly costUsd: number;
  /** Turns whose price is not known: they are not in `costUsd`. */
  readonly unpriced: number;
}

export interface SessionNode extends SessionView, Spent {
  /** Of the session with all below it. */
  readonly total: Spent;
  readonly children: SessionNode[];
}

/**
 * Those at the top come most recently used first, workers in the order in which they were opened. With `open`, those
 * that are closed are left out, with all below them.
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
  const found = new Map<string, SessionView>(); // one that is used between two pages comes twice
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

/** One whose parent is not there stands at the top. */
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

/** Those of the same millisecond by their keys, so that the order is always the same. */
function byCreation(one: SessionView, other: SessionView): number {
  return compare(one.createdAt, other.createdAt) || compare(one.key, other.key);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
