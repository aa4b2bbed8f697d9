import type { SessionNode } from "../insight/session-tree.ts";
import { type SessionView, sessionView } from "../feature/views.ts";
import { pageOf } from "../feature/page.ts";
import type { Invocation } from "../feature/command.ts";
import { limitOf, openLedger } from "../client/ledger.ts";
import { count, moment, table } from "../terminal/text.ts";

export async function listSessions(given: Invocation): Promise<void> {
  const { home, options, print } = given;
  const limit = limitOf(given);
  const open = options["all"] !== true;
  await using ledger = await openLedger(home);
  if (options["tree"] === true) {
    const { readSessionTree } = await import("../insight/session-tree.ts");
    const items = await readSessionTree(ledger, { open });
    print.data({ items, next: null }, () => describe(items.flatMap((root) => drawTree(root))));
    return;
  }
  const page = pageOf(await ledger.sessions.list({ limit, open }), sessionView);
  print.data(page, () => describe(page.items.map(cells)));
}

/** `⤷` marks a session that an agent opened. */
function drawTree(node: SessionNode, depth = 0): string[][] {
  const mark = depth === 0 ? "" : `${"  ".repeat(depth - 1)}⤷ `;
  const { turns, costUsd, unpriced, total, children } = node;
  const row = [
    `${mark}${node.key}`,
    stateOf(node),
    `[${node.channel ?? "–"}]`,
    node.agent,
    count(turns, "turn"),
    usd(costUsd, unpriced),
    children.length === 0 ? "" : `${usd(total.costUsd, total.unpriced)} including workers`,
  ];
  return [row, ...children.flatMap((child) => drawTree(child, depth + 1))];
}

function cells(session: SessionView): string[] {
  const { key, agent, head, usedAt, childCount } = session;
  const workers = childCount === 0 ? "" : `  ⤷ ${count(childCount, "worker")}`;
  return [key, stateOf(session), agent, moment(usedAt), `${head ?? "no turns yet"}${workers}`];
}

function stateOf({ state, closed, wait, queued, limitReached }: SessionView): string {
  if (closed && state === "idle") return "closed";
  const waiting = queued === 0 ? "" : `, ${queued} queued`;
  const ended = limitReached && state === "idle" ? ", limit reached" : "";
  return `${wait === null ? state : `waiting for ${wait === "child" ? "workers" : wait}`}${ended}${waiting}`;
}

function usd(amount: number, unpriced: number): string {
  const unknown = unpriced === 0 ? "" : ` + ${unpriced} unpriced`;
  return `${amount.toFixed(4)} USD${unknown}`;
}

function describe(rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "No sessions." : table(rows);
}
