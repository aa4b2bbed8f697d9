import { expect, test } from "vitest";

import type { SessionView, TurnView } from "../feature/views.ts";
import { describeCosts, describeSessions, describeSpent, describeTurnList } from "./chat-lists.ts";

const AT = "2026-03-01T09:30:00.000Z";

function turn(fields: Partial<TurnView>): TurnView {
  const times = { startedAt: AT, completedAt: "2026-03-01T09:30:02.500Z" };
  const query = [{ content: "what\nnow?" }];
  return {
    id: "01A",
    type: "message",
    query,
    text: "Nothing.",
    costUsd: null,
    ...times,
    ...fields,
  } as TurnView;
}

test("the session one is in is marked, and how to go to another is said", () => {
  const session = (key: string, queued = 0) => ({ key, state: "idle", queued, usedAt: AT }) as SessionView;
  const [here, other, how] = describeSessions([session("main"), session("work", 2)], "main").split("\n");
  expect([here, other, how]).toEqual([
    expect.stringMatching(/^\* {2}main {2}idle/),
    expect.stringMatching(/^ {3}work {2}idle, 2 queued/),
    expect.stringContaining("/switch"),
  ]);
  expect(describeSessions([], "main")).toContain("No sessions yet");
});

test("turns are numbered, with what was asked and answered", () => {
  const [first, second] = describeTurnList([turn({}), turn({ id: "01B" as TurnView["id"], text: "" })]).split(
    "\n",
  );
  expect(first).toMatch(/^1 {2}01A .* what → Nothing\.$/);
  expect(second).toMatch(/^2 {2}01B .* what$/);
  expect(describeTurnList([])).toBe("No turns yet.");
  expect(describeTurnList([turn({ type: "compaction" })])).toContain("(compaction)");
});

test("costs are those of the session and of all", () => {
  const costs = { costUsd: 1.5, turns: 3, items: [{ key: "work", turns: 1, costUsd: 0.5 }] };
  expect(describeCosts(costs, "work", 30)).toBe(
    "Last 30 days: this session $0.5000, 1 turn; all sessions $1.5000, 3 turns.",
  );
  expect(describeCosts(costs, "main", 30)).toContain("this session $0.0000, 0 turns");
});

test("a turn that has cost something says what, and how long it took", () => {
  expect(describeSpent(turn({ costUsd: 0.0123 }))).toBe("$0.0123 · 2.5 s");
  expect(describeSpent(turn({ costUsd: 0 }))).toBeUndefined();
  expect(describeSpent(turn({}))).toBeUndefined();
});
