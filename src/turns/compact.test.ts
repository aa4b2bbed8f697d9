import * as fc from "fast-check";
import { expect, test } from "vitest";

import { compactionTurn, spokenTurn } from "../../test/support/thread.ts";
import type { Context, TurnContent } from "../store/store.ts";
import { splitThread } from "./compact.ts";

/** 100 tokens each. */
const turns = [0, 1, 2, 3, 4, 5].map((depth) => spokenTurn(depth, "q".repeat(200), "a".repeat(200)));
const thread: Context = { compaction: undefined, turns };
const compacted: Context = {
  compaction: compactionTurn(3, "so far"),
  turns: [turns[1]!, turns[2]!, turns[4]!, turns[5]!],
};

function depths(contents: readonly TurnContent[]): number[] {
  return contents.map(({ turn }) => turn.depth);
}

test.each([
  [1_000, [], [0, 1, 2, 3, 4, 5]],
  [250, [0, 1, 2, 3], [4, 5]],
  [60, [0, 1, 2, 3, 4], [5]],
  [40, [0, 1, 2, 3, 4, 5], []],
  [0, [0, 1, 2, 3, 4, 5], []],
])("of %i tokens that are kept, the newest turns take what they need", (kept, older, newer) => {
  const split = splitThread(thread, kept);
  expect([depths(split.older), depths(split.kept)]).toEqual([older, newer]);
});

test("what is older than the last compaction goes with it, whatever there is room for", () => {
  const split = splitThread(compacted, 1_000);
  expect([depths(split.older), depths(split.kept)]).toEqual([
    [3, 1, 2],
    [4, 5],
  ]);
});

test("no turn is lost or taken twice", () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.boolean(), (kept, hasCompaction) => {
      const whole = hasCompaction ? compacted : thread;
      const split = splitThread(whole, kept);
      const all = [...split.older, ...split.kept];
      expect(all).toEqual([...(whole.compaction === undefined ? [] : [whole.compaction]), ...whole.turns]);
    }),
  );
});
