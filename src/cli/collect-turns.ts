/**
 * Selects the turns that a log shows: the requested threads and the branches off them. Both are bounded, so the cost does
 * not depend on the length of a thread or the number of branches.
 */
import type { TurnId } from "../model/ids.ts";
import type { StoredTurn, Ledger } from "../store/store.ts";

/** At most `limit` turns of the threads with these heads, plus as many of other branches; newest first. */
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

/** Adds the other descendants of these turns, depth first. */
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

/** Newest first, but a parent never precedes its child, even if a clock was wrong. */
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
    const left = (waiting.get(parent.id) ?? 1) - 1;
    waiting.set(parent.id, left);
    if (left === 0) ready.push(parent);
  }
  return ordered;
}

/** Removes the newest turn from the list and returns it. */
function takeNewest(turns: StoredTurn[]): StoredTurn {
  const newest = turns.reduce((best, turn) => (isNewer(turn, best) ? turn : best));
  turns.splice(turns.indexOf(newest), 1);
  return newest;
}

function isNewer(a: StoredTurn, b: StoredTurn): boolean {
  return a.completedAtMs === b.completedAtMs ? a.id > b.id : a.completedAtMs > b.completedAtMs;
}
