import * as fc from "fast-check";
import { expect, test } from "vitest";

import { applyEdit, isEditDone } from "../markdown/apply-edit.ts";
import type { FileEdit, TaskEdit } from "../markdown/edit.ts";
import type { EditRecord } from "./journal.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { blockOf, RACE_MS, RESTORE_MS, restoreLost } from "./restore-lost.ts";

const START = "## One\n**Status:** ready\n\nFirst.\n\n## Two\n**Status:** ready\n\nSecond.\n";
const STAMP = "2026-03-28T10:15";
const WRITTEN_MS = 1_000_000_000;
const LATER_MS = WRITTEN_MS + RACE_MS + 1;

const tasks = (edit: TaskEdit): FileEdit => ({ file: "tasks", edit });
const claim = (title: string) => tasks({ kind: "claim", task: { title, ordinal: 1 }, stamp: STAMP });
const note = (title: string, text: string) =>
  tasks({ kind: "note", task: { title, ordinal: 1 }, stamp: STAMP, text });
const tick = (stamp: string) => tasks({ kind: "tick", stamp });
const complete = (title: string) =>
  tasks({ kind: "complete", task: { title, ordinal: 1, started: STAMP }, stamp: STAMP, summary: "Did it." });
const add = (title: string) => tasks({ kind: "add", title, ordinal: 1 });

/** What is written down of edits made one after the other, at the same time, and the text they make. */
function play(edits: readonly FileEdit[], parts: Partial<EditRecord> = {}) {
  let text = START;
  const entries = edits.map((edit): EditRecord => {
    const block = blockOf(text, edit);
    text = applyEdit(text, edit);
    return { atMs: WRITTEN_MS, hash: "", bytes: 0, edit, block, ...parts };
  });
  return { text, entries };
}

function restore(text: string, entries: readonly EditRecord[], changedMs = LATER_MS) {
  return restoreLost(text, { entries, nowMs: changedMs, changedMs });
}

const kinds = ({ edits }: { edits: readonly { edit: FileEdit }[] }) =>
  edits.map(({ edit }) => edit.edit.kind);

test("what is there is left alone", () => {
  const { text, entries } = play([claim("One"), note("One", "begun"), tick(STAMP)]);
  expect(restore(text, entries)).toEqual({ text, edits: [], gone: [], aside: [] });
});

test("where an old text was written back, what we wrote inside of tasks is done again in its order", () => {
  const { text, entries } = play([claim("One"), note("One", "begun"), tick(STAMP)]);
  const restored = restore(START, entries);
  expect(restored.text).toBe(text);
  expect(kinds(restored)).toEqual(["claim", "note", "tick"]);
});

test("where an old text was written back with other line ends, a byte order mark and trailing spaces, too", () => {
  const { entries } = play([claim("One"), note("One", "begun"), complete("One")]);
  const saved = `\uFEFF${START.replaceAll("\n", "  \r\n")}`;
  expect(kinds(restore(saved, entries))).toEqual(["claim", "note", "complete"]);
});

test("a task that is gone is not put back, but kept aside, where nobody can tell why it is gone", () => {
  const { entries } = play([add("Three"), add("Four")]);
  const saved = applyEdit(START, add("Three"));
  for (const changedMs of [WRITTEN_MS + 1, LATER_MS]) {
    const { text, edits, aside } = restore(saved, entries, changedMs);
    expect({ text, edits }).toEqual({ text: saved, edits: [] });
    expect(aside).toMatchObject([{ title: "Four" }]);
  }
});

test("a task that is gone while something later is there was taken out, and is not kept", () => {
  const { entries } = play([add("Three"), claim("One")]);
  expect(restore(applyEdit(START, claim("One")), entries)).toMatchObject({ edits: [], aside: [] });
});

test("a task that is gone together with what was written inside another moments ago was overwritten", () => {
  const { text, entries } = play([add("Three"), claim("One")]);
  expect(restore(START, entries, WRITTEN_MS + 1)).toMatchObject({ aside: [], gone: [] });
  expect(readTasks(restore(START, entries, WRITTEN_MS + 1).text)).toEqual(readTasks(text));
  const later = restore(START, entries);
  expect(kinds(later)).toEqual(["claim"]);
  expect(later.aside).toMatchObject([{ title: "Three" }]);
});

test("a task that somebody gave another title is not kept under its old one", () => {
  const named = (title: string) => tasks({ kind: "add", title, ordinal: 1, body: "Verify the signature." });
  const { entries } = play([named("Add a webhok")]);
  expect(restore(applyEdit(START, named("Add a webhook")), entries)).toMatchObject({ edits: [], aside: [] });
});

test("a task that was done and is gone is neither put back nor kept", () => {
  const { entries } = play([add("Three"), claim("Three"), complete("Three")]);
  for (const changedMs of [WRITTEN_MS + 1, LATER_MS])
    expect(restore(START.replaceAll("\n", "\r\n"), entries, changedMs)).toMatchObject({
      edits: [],
      aside: [],
    });
});

test("what was taken out is not looked at again", () => {
  const { entries } = play([add("Three"), claim("Three")]);
  const { gone } = restore(START, entries);
  expect(gone).toHaveLength(2);
  const after = [...entries, { atMs: WRITTEN_MS, hash: "", bytes: 0, gone }];
  expect(restore(START, after)).toEqual({ text: START, edits: [], gone: [], aside: [] });
  const again = [...after, { atMs: WRITTEN_MS, hash: "", bytes: 0, edit: add("Three") }];
  expect(restore(START, again).aside).toMatchObject([{ title: "Three" }]);
});

test("what is gone while something later is there was taken out on purpose", () => {
  const { entries } = play([claim("One"), claim("Two")]);
  const theirs = applyEdit(START, claim("Two"));
  expect(restore(theirs, entries).edits).toEqual([]);
});

test("what is gone while its task says something new was taken out on purpose", () => {
  const { entries } = play([claim("One")]);
  expect(restore(START.replace("First.", "First, but not yet."), entries).edits).toEqual([]);
});

test("empty lines at the end of a task are nothing new", () => {
  const { entries } = play([claim("Two")]);
  expect(kinds(restore(`${START}\n\n## Prose\n`, entries))).toEqual(["claim"]);
});

test("what is gone within moments was overwritten, whatever else is there and however often", () => {
  const { entries } = play([claim("One"), claim("Two")], { again: 7 });
  const theirs = applyEdit(START, claim("Two")).replace("First.", "First!");
  expect(kinds(restore(theirs, entries, WRITTEN_MS + RACE_MS - 1))).toEqual(["claim"]);
});

test("what was done again once is not done again later", () => {
  const { entries } = play([claim("One")], { again: 1 });
  expect(restore(START, entries).edits).toEqual([]);
});

test("a tick that is there says nothing: the one before it may have had the same stamp", () => {
  const { entries } = play([claim("One"), tick(STAMP)]);
  expect(kinds(restore(applyEdit(START, tick(STAMP)), entries))).toEqual(["claim"]);
});

test("what was overwritten within moments can be done again later, once", () => {
  const { entries } = play([claim("One")]);
  const { edits } = restore(START, entries, WRITTEN_MS + 1);
  expect(edits).toMatchObject([{ again: 0 }]);
  expect(kinds(restore(START, [{ ...entries[0]!, ...edits[0]! }]))).toEqual(["claim"]);
});

test("it is written down that it was done again", () => {
  const { entries } = play([claim("One")]);
  expect(restore(START, entries).edits).toEqual([{ edit: claim("One"), block: entries[0]!.block, again: 1 }]);
});

test("what was done long ago is not looked at", () => {
  const { entries } = play([claim("One")]);
  expect(restore(START, entries, WRITTEN_MS + RESTORE_MS + 1).edits).toEqual([]);
});

test("what was done before an undo is not done again", () => {
  const { entries } = play([claim("One")]);
  const undo = { atMs: WRITTEN_MS, hash: "", bytes: 0, undone: "x" };
  expect(restore(START, [...entries, undo], WRITTEN_MS + 1).edits).toEqual([]);
});

test("of ticks only the last one counts, and a later one of somebody else stays", () => {
  const { entries } = play([tick("2026-03-28T10:15"), tick("2026-03-28T10:30")]);
  expect(restore(START, entries, WRITTEN_MS + 1).edits).toMatchObject([{ edit: tick("2026-03-28T10:30") }]);
  const theirs = applyEdit(START, tick("2026-03-28T10:45"));
  expect(restore(theirs, entries, WRITTEN_MS + 1).edits).toEqual([]);
});

test("what cannot be done any more is left", () => {
  const { entries } = play([claim("One")]);
  const theirs = START.replace("**Status:** ready", "**Status:** done");
  for (const text of [theirs, "", "## Two\n**Status:** ready\n"])
    expect(restore(text, entries, WRITTEN_MS + 1)).toMatchObject({ text, edits: [] });
});

test("whichever old text is written back within moments, all is there again or kept aside", () => {
  const edit = fc.oneof(
    fc.constantFrom(claim("One"), claim("Two"), tick(STAMP)),
    fc.integer({ min: 0, max: 9 }).map((n) => add(`New ${n}`)),
    fc.integer({ min: 0, max: 9 }).map((n) => note("One", `note ${n}`)),
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(edit, { maxLength: 8, selector: (one) => JSON.stringify(one) }),
      fc.nat(8),
      (edits, kept) => {
        const { entries } = play(edits);
        const stale = edits.slice(0, kept).reduce(applyEdit, START);
        const { text, aside } = restore(`A person's line.\n${stale}`, entries, WRITTEN_MS + 1);
        const lost = edits.filter((one) => !isEditDone(text, one)).map(({ edit }) => edit);
        const isOlder = edits.slice(kept).some((one) => one.edit.kind !== "add");
        expect(lost).toEqual(isOlder ? [] : aside);
        expect(text.startsWith("A person's line.\n")).toBe(true);
      },
    ),
  );
});

test("whoever has left and is made active by hand stays active; only what is gone at once was overwritten", () => {
  const before = "---\nname: Dev\nstatus: active\n---\n";
  const edit: FileEdit = { file: "note", edit: { kind: "field", name: "status", value: "inactive" } };
  const entries: EditRecord[] = [{ atMs: WRITTEN_MS, hash: "", bytes: 0, edit }];
  expect(restore(before, entries).edits).toEqual([]);
  expect(restore(before, entries, WRITTEN_MS + RACE_MS - 1).text).toContain("status: inactive\n");
});
