import type { Cortex } from "../runtime/cortex.ts";
import { type SessionView, sessionView } from "../runtime/views.ts";
import { MAX_LIMIT } from "./requests.ts";

/** As many sessions as a tree is made of: those that were used last. */
const MAX_TREE_SESSIONS = 10_000;

export type SessionNode = SessionView & { children: SessionNode[] };

export async function allSessions(
  store: Cortex["store"],
  max: number = MAX_TREE_SESSIONS,
): Promise<SessionView[]> {
  const sessions = new Map<string, SessionView>(); // one that is used between two pages comes twice
  let cursor: string | undefined;
  do {
    const page = await store.sessions.list({ limit: MAX_LIMIT, ...(cursor === undefined ? {} : { cursor }) });
    for (const session of page.items) sessions.set(session.key, sessionView(session));
    cursor = page.next;
  } while (cursor !== undefined && sessions.size < max);
  return [...sessions.values()].slice(0, max);
}

/** Each session below the one that opened it. One whose parent is not there stands at the top. */
export function asTree(sessions: readonly SessionView[]): SessionNode[] {
  const nodes = new Map(
    sessions.map((session) => [session.key, { ...session, children: [] as SessionNode[] }]),
  );
  const roots: SessionNode[] = [];
  for (const node of nodes.values()) {
    const parent = node.parentSession === null ? undefined : nodes.get(node.parentSession);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}
