/** Two threads beside each other: where they part, and what was said in each since then. */
import type { TurnId } from "../model/ids.ts";
import type { Ledger } from "../store/store.ts";
import { unifiedDiff } from "../relay/artifact/file-changes.ts";
import { type TurnView, turnView } from "../feature/views.ts";

export interface Comparison {
  /** The last turn that both threads have. Null: they have none in common. */
  readonly common: TurnView | null;
  readonly left: Branch;
  readonly right: Branch;
  /** From what was said on the left to what was said on the right, unified. Empty: the same was said. */
  readonly diff: string;
}

export interface Branch {
  /** The turn that it ends with. */
  readonly head: TurnId;
  /** Those that the other thread does not have, oldest first. */
  readonly turns: readonly TurnView[];
  /** How many more there are after them. */
  readonly more: number;
}

/** Both turns must exist. Of each branch, the first turns are read, at most `limit`. */
export async function compareTurns(
  [left, right]: readonly [TurnId, TurnId],
  { turns }: Pick<Ledger, "turns">,
  limit: number,
): Promise<Comparison> {
  const depths = await Promise.all([left, right].map(async (id) => (await turns.get(id))!.depth));
  const fork = await findFork([left, right], Math.min(...depths), turns);
  const branches = await Promise.all(
    [left, right].map((head, side) => readBranch(head, { depth: depths[side]!, fork, limit }, turns)),
  );
  const [here, there] = branches as [Branch, Branch];
  const common = fork === -1 ? undefined : await turns.read((await turns.ancestor(left, fork))!);
  return {
    common: common === undefined ? null : turnView(common),
    left: here,
    right: there,
    diff: await unifiedDiff(transcript(here), transcript(there)),
  };
}

/** What was said on a branch, as one text: questions are quoted. */
function transcript({ turns }: Branch): string {
  return turns.map(spoken).join("\n");
}

/** A turn as lines. */
export function spoken({ id, query, text, prunedAt }: TurnView): string {
  // With its id: whether two that are pruned said the same, nobody knows.
  if (prunedAt !== null) return `(${id}, pruned ${prunedAt})\n`;
  const asked = query.flatMap(({ content }) => content.split("\n").map((line) => `> ${line}`.trimEnd()));
  return [...asked, "", text, ""].join("\n");
}

/** The depth of the last turn that both have; -1 where there is none. They have the same turns up to there. */
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
  const last = (await turns.ancestor(head, fork + shown))!;
  const thread = (await turns.thread(last, { limit: shown })).toReversed();
  const views = await Promise.all(thread.map(async ({ id }) => turnView((await turns.read(id))!)));
  return { head, turns: views, more: length - shown };
}
