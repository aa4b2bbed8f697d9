/**
 * Which turns a log shows: the thread that was asked for, and the branches that leave it. Both are bounded,
 * so that a thread of any length and a turn with any number of followers cost the same.
 */
import type { TurnId } from "../model/ids.ts";
import type { StoredTurn, Ledger } from "../store/store.ts";

/** At most `limit` turns of the threads that end with these heads, and as many of other branches; newest first. */
export async function collectTurns(
  { turns }: Pick<Ledger, "turns">,
  heads: readonly TurnId[],
  limit: number,
): Promise<StoredTurn[]> {
  const found = new Map<TurnId, StoredTurn>();
  const ends: StoredTurn[] = [];
  const reach = async (id: TurnId | undefined): Promise<void> => {
    const turn = id === undefined ? undefined : await turns.get(id);
    if (turn !== undefined && !found.has(turn.id)) ends.push(turn);
  };
  for (const head of heads.slice(0, limit)) await reach(head);
  while (ends.length > 0 && found.size < limit) {
    const newest = takeNewest(ends);
    found.set(newest.id, newest);
    await reach(newest.parent);
  }
  await addBranches(found, turns, found.size + limit);
  return inOrder([...found.values()]);
}

/** Adds what else follows the turns that were found, each branch to its end before the next. */
async function addBranches(
  found: Map<TurnId, StoredTurn>,
  turns: Ledger["turns"],
  most: number,
): Promise<void> {
  const open = [...found.values()];
  for (let turn = open.shift(); turn !== undefined && found.size < most; turn = open.shift()) {
    if (turn.childCount === shownChildren(turn, found)) continue;
    for (const child of await turns.children(turn.id)) {
      if (found.has(child.id) || found.size >= most) continue;
      found.set(child.id, child);
      open.unshift(child);
    }
  }
}

function shownChildren({ id }: StoredTurn, found: ReadonlyMap<TurnId, StoredTurn>): number {
  let count = 0;
  for (const { parent } of found.values()) if (parent === id) count++;
  return count;
}

/** Newest first, and never one above a turn that follows it, whatever the clocks said. */
function inOrder(turns: readonly StoredTurn[]): StoredTurn[] {
  const waiting = new Map<TurnId, number>();
  for (const { parent } of turns)
    if (parent !== undefined) waiting.set(parent, (waiting.get(parent) ?? 0) + 1);
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  const ready = turns.filter(({ id }) => !waiting.has(id));
  const ordered: StoredTurn[] = [];
  while (ready.length > 0) {
    const turn = takeNewest(ready);
    ordered.push(turn);
    const parent = turn.parent === undefined ? undefined : byId.get(turn.parent);
    if (parent === undefined) continue;
    const left = waiting.get(parent.id)! - 1;
    waiting.set(parent.id, left);
    if (left === 0) ready.push(parent);
  }
  return ordered;
}

/** Removes it from the list. */
function takeNewest(turns: StoredTurn[]): StoredTurn {
  let newest = 0;
  for (const [at, turn] of turns.entries()) if (isNewer(turn, turns[newest]!)) newest = at;
  return turns.splice(newest, 1)[0]!;
}

function isNewer(a: StoredTurn, b: StoredTurn): boolean {
  return a.completedAtMs === b.completedAtMs ? a.id > b.id : a.completedAtMs > b.completedAtMs;
}
