import { expect, test } from "vitest";

import { applyTaskEdit } from "./edit-tasks.ts";
import { blockerOf, flagOf, flagStatus, flagText } from "./flag.ts";
import { readTasks } from "./read-tasks.ts";

const TASK = "## Write a poem\n**Status:** in-progress\n**Started:** 2026-03-28T10:15\n\nOf rain.\n";
const REF = { title: "Write a poem", ordinal: 1 };

function noted(text: string, ...notes: string[]): string {
  return notes.reduce(
    (before, note, i) =>
      applyTaskEdit(before, { kind: "note", task: REF, stamp: `2026-03-28T11:0${i}`, text: note }),
    text,
  );
}

function flagIn(text: string) {
  return flagOf(readTasks(text).tasks[0]!);
}

test("a task is flagged where the last line of its progress says so", () => {
  const text = noted(TASK, "begun", flagText("not my\nrole"));
  expect(flagIn(text)).toEqual({ stamp: "2026-03-28T11:01", reason: "not my role" });
  expect(flagIn(text.replaceAll("\n", "\r\n"))).toEqual({ stamp: "2026-03-28T11:01", reason: "not my role" });
});

test("a task that somebody has gone on with is not flagged any more", () => {
  expect(flagIn(TASK)).toBeUndefined();
  expect(flagIn(noted(TASK, flagText("no key"), "the key is there"))).toBeUndefined();
  expect(flagIn(noted(TASK, flagText("no key")).replace("in-progress", "ready"))).toBeUndefined();
});

test("the session log tells what is in the way, in our words and in those of others", () => {
  expect(blockerOf(flagStatus("A poem", "not my role"))).toBe("A poem: not my role");
  expect(blockerOf("Blocked: waiting for access")).toBe("waiting for access");
  expect(blockerOf("active, blocked on the review of Ann")).toBe("the review of Ann");
  expect(blockerOf("blocked")).toBe("blocked");
});

test("a session log in which nothing is in the way is not taken for one", () => {
  const others = [
    undefined,
    "",
    "active — unblocked the build",
    "no longer blocked",
    "not blocked",
    "no blockers",
    "Blocked: none",
    "active — done: Free the blocked queue",
    "active — Blocked users failed and is tried again",
  ];
  for (const status of others) expect(blockerOf(status)).toBeUndefined();
});
