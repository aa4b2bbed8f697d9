import { expect, test } from "vitest";

import { applyEdit, isEditDone, settleEdit } from "./apply-edit.ts";
import type { FileEdit } from "./edit.ts";

test("an edit is made in the file that it is of", () => {
  const tick: FileEdit = { file: "tasks", edit: { kind: "tick", stamp: "2026-03-28T10:15" } };
  const field: FileEdit = { file: "note", edit: { kind: "field", name: "status", value: "inactive" } };
  for (const [edit, after] of [
    [tick, "<!-- cortex:last-tick 2026-03-28T10:15 -->\n"],
    [field, "---\nstatus: inactive\n---\n"],
  ] as const) {
    expect(settleEdit("", edit)).toEqual(edit);
    expect(isEditDone("", edit)).toBe(false);
    expect(applyEdit("", edit)).toBe(after);
    expect(isEditDone(after, edit)).toBe(true);
  }
});

test("a new task is settled as the next of its title", () => {
  const add: FileEdit = { file: "tasks", edit: { kind: "add", title: " A " } };
  expect(settleEdit("## A\n**Status:** done\n## B\n**Status:** done\n", add)).toEqual({
    file: "tasks",
    edit: { kind: "add", title: " A ", ordinal: 2 },
  });
});
