import { expect, test } from "vitest";

import { isConflictCopy } from "./team-problems.ts";

test.each([
  "tasks (Ann's conflicted copy 2026-03-28).md",
  "tasks (Ann Bee's MacBook Pro's conflicted copy 2026-03-28 (1)).md",
  "tasks (Case Conflict).md",
  "tasks (Unicode Encoding Conflict 1).md",
  "tasks (conflicted copy 2026-03-28 101500).md",
  "tasks_conflict-20260328-101500.md",
  "tasks.sync-conflict-20260328-101500-ABCDEFG.md",
  "tasks.sync-conflict-20260328-101500.md",
  "billing-dev (Conflicted copy Laptop 202603281015).md",
  "billing-dev (conflict 2026-03-28-10-15-00).md",
])("%s is a copy of a conflict", (name) => {
  expect(isConflictCopy(name)).toBe(true);
});

test.each([
  "tasks.md",
  "billing-dev.md",
  "conflict.md",
  "conflicted-copy-desk.md",
  "sync-conflict-helper.md",
  "notes (draft).md",
  "",
])("%s is none", (name) => {
  expect(isConflictCopy(name)).toBe(false);
});

test("a long name is judged at once", () => {
  expect(isConflictCopy(" (".repeat(100_000))).toBe(false);
});
