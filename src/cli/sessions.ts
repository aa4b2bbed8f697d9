import { type SessionView, sessionView } from "../runtime/views.ts";
import { pageOf } from "../server/page.ts";
import type { Invocation } from "./command.ts";
import { type Ledger, limitOf, MAX_LIMIT, openLedger } from "./ledger.ts";
import { moment, table } from "./text.ts";

export async function sessions(given: Invocation): Promise<void> {
  const { home, options, print } = given;
  const limit = limitOf(given);
  await using ledger = await openLedger(home);
  if (options["tree"] === true) {
    const { asTree } = await import("../server/session-tree.ts");
    const items = asTree(await allSessions(ledger));
    print.data({ items, next: null }, () => describe(items.flatMap((root) => drawTree(root))));
    return;
  }
  const page = pageOf(await ledger.sessions.list({ limit }), sessionView);
  print.data(page, () => describe(page.items.map((session) => cells(session))));
}

/** As many as a tree is made of: those that were used last. */
const MAX_TREE_SESSIONS = 10_000;

type SessionNode = SessionView & { readonly children: readonly SessionNode[] };

async function allSessions({ sessions }: Ledger): Promise<SessionView[]> {
  const found = new Map<string, SessionView>(); // one that is used between two pages comes twice
  let cursor: string | undefined;
  do {
    const page = await sessions.list({ limit: MAX_LIMIT, ...(cursor === undefined ? {} : { cursor }) });
    for (const session of page.items) found.set(session.key, sessionView(session));
    cursor = page.next;
  } while (cursor !== undefined && found.size < MAX_TREE_SESSIONS);
  return [...found.values()].slice(0, MAX_TREE_SESSIONS);
}

/** `⤷` stands before a session that an agent opened. */
function drawTree(node: SessionNode, depth = 0): string[][] {
  const mark = depth === 0 ? "" : `${"  ".repeat(depth - 1)}⤷ `;
  return [cells(node, mark), ...node.children.flatMap((child) => drawTree(child, depth + 1))];
}

function cells({ key, state, wait, queued, agent, head, usedAt }: SessionView, mark = ""): string[] {
  const waiting = queued === 0 ? "" : `, ${queued} queued`;
  return [
    `${mark}${key}`,
    `${wait === null ? state : `waits for ${wait}`}${waiting}`,
    agent,
    moment(usedAt),
    head ?? "no turn yet",
  ];
}

function describe(rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "No sessions." : table(rows);
}
