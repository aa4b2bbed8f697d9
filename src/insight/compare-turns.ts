/** Compares two threads: where they fork, and the turns of each branch since then. */
import assert from "node:assert/strict";

import type { TurnId } from "../model/ids.ts";
import type { Ledger } from "../store/store.ts";
import { unifiedDiff } from "../model/compare-texts.ts";
import { type TurnView, turnView } from "../feature/views.ts";

export interface Comparison {
  /** The last common turn. Null: none. */
  readonly common: TurnView | null;
  readonly left: Branch;
  readonly right: Branch;
  /** A unified diff from the left branch to the right one. Empty: identical content. */
  readonly diff: string;
}

export interface Branch {
  /** The last turn. */
  readonly head: TurnId;
  /** The turns that the other thread does not have, oldest first. */
  readonly turns: readonly TurnView[];
  /** The number of further turns, which were not read. */
  readonly more: number;
}

/** Both turns must exist. Reads at most the first `limit` turns of each branch. */
export async function compareTurns(
  [left, right]: readonly [TurnId, TurnId],
  { turns }: Pick<Ledger, "turns">,
  limit: number,
): Promise<Comparison> {
  const depthOf = async (id: TurnId): Promise<number> => (await turns.get(id))?.depth ?? 0;
  const [leftDepth, rightDepth] = await Promise.all([depthOf(left), depthOf(right)]);
  const fork = await findFork([left, right], Math.min(leftDepth, rightDepth), turns);
  const [here, there] = await Promise.all([
    readBranch(left, { depth: leftDepth, fork, limit }, turns),
    readBranch(right, { depth: rightDepth, fork, limit }, turns),
  ]);
  const parent = fork === -1 ? undefined : await turns.ancestor(left, fork);
  const common = parent && (await turns.read(parent));
  return {
    common: common === undefined ? null : turnView(common),
    left: here,
    right: there,
    diff: await unifiedDiff(transcript(here), transcript(there)),
  };
}

/** The content of a branch as one text, with queries quoted. */
function transcript({ turns }: Branch): string {
  return turns.map(transcriptOf).join("\n");
}

/** A turn as text, its query quoted. */
export function transcriptOf({ id, query, text, prunedAt }: TurnView): string {
  // With its id, because two pruned turns cannot be compared.
  if (prunedAt !== null) return `(${id}, pruned ${prunedAt})\n`;
  const asked = query.flatMap(({ content }) => content.split("\n").map((line) => `> ${line}`.trimEnd()));
  return [...asked, "", text, ""].join("\n");
}

/** The depth of the last common turn; -1 if there is none. Threads are identical up to it, so a binary search works. */
async function findFork(
  [left, right]: readonly [TurnId, TurnId],
  shorter: number,
  turns: Ledger["turns"],
): Promise<number> {
  let same = -1;
  let different = shorter + 1;
  while (different - same > 1) {
    const depth = Math.floor((same + different) / 2);
    const [here, there] = await Promise.all([turns.ancestor(left, depth), turns.ancestor(right, depth)]);
    if (here === there) same = depth;
    else different = depth;
  }
  return same;
}

async function readBranch(
  head: TurnId,
  { depth, fork, limit }: { depth: number; fork: number; limit: number },
  turns: Ledger["turns"],
): Promise<Branch> {
  const length = depth - fork;
  const shown = Math.min(length, limit);
  if (shown === 0) return { head, turns: [], more: 0 };
  const last = await turns.ancestor(head, fork + shown);
  assert(last !== undefined, "a turn has an ancestor at every depth");
  const thread = (await turns.thread(last, { limit: shown })).toReversed();
  const read = await Promise.all(thread.map(({ id }) => turns.read(id)));
  const views = read.filter((turn) => turn !== undefined).map(turnView);
  return { head, turns: views, more: length - shown };
}
