import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { NoteEdit } from "./edit.ts";
import { applyNoteEdit, isNoteEditDone } from "./edit-note.ts";
import { readNote } from "./read-note.ts";

const inactive: NoteEdit = { kind: "field", name: "status", value: "inactive" };
const session: NoteEdit = { kind: "session", date: "2026-03-28", status: "active — did it" };
const trim: NoteEdit = { kind: "trim-log" };

test.each<[string, NoteEdit, string, string]>([
  [
    "a field",
    inactive,
    "\uFEFF---\r\nname: X\r\nstatus: active\r\njoined: y\r\n---\r\nText",
    "\uFEFF---\r\nname: X\r\nstatus: inactive\r\njoined: y\r\n---\r\nText",
  ],
  ["a field that was not there", inactive, "---\nname: X\n---\n", "---\nname: X\nstatus: inactive\n---\n"],
  ["a field of no frontmatter at all", inactive, "## Role\n", "---\nstatus: inactive\n---\n## Role\n"],
  ["a field of empty frontmatter", inactive, "---\n---\n", "---\nstatus: inactive\n---\n"],
  [
    "a field of empty frontmatter above a rule",
    inactive,
    "---\n---\n---\n",
    "---\nstatus: inactive\n---\n---\n",
  ],
  [
    "a field with a remark and an empty line below",
    inactive,
    "---\nstatus: active  # since May\n\nname: X\n---\n",
    "---\nstatus: inactive  # since May\n\nname: X\n---\n",
  ],
  [
    "a field of several lines",
    { kind: "field", name: "role", value: "x" },
    "---\nrole: >\n  long\n\n  text\nname: X\n---\n",
    "---\nrole: x\nname: X\n---\n",
  ],
  [
    "a field that is a list",
    { kind: "field", name: "tags", value: "x" },
    "---\ntags:\n- a\n- b\n---\n",
    "---\ntags: x\n---\n",
  ],
  [
    "a field that becomes empty above a list of nothing",
    { kind: "field", name: "name", value: "" },
    "---\nname: X\n# What is this?\n- a\n---\n",
    '---\nname: ""\n# What is this?\n- a\n---\n',
  ],
  [
    "a field with special characters",
    { kind: "field", name: "name", value: 'a: "b" # \n' },
    "---\nname: X\n---\n",
    '---\nname: "a: \\"b\\" # \\n"\n---\n',
  ],
  [
    "a session",
    session,
    "## Session Log\nLast session: --\nStatus: registered\n",
    "## Session Log\nLast session: 2026-03-28\nStatus: active — did it\n\nLast session: --\nStatus: registered\n",
  ],
  [
    "a session below an empty line",
    session,
    "## Session Log\r\n\r\nfree text\r\n## Next\r\n",
    "## Session Log\r\n\r\nLast session: 2026-03-28\r\nStatus: active — did it\r\n\r\nfree text\r\n## Next\r\n",
  ],
  [
    "the first session",
    session,
    "## Session Log",
    "## Session Log\nLast session: 2026-03-28\nStatus: active — did it\n",
  ],
  [
    "the first session before another section",
    session,
    "## Session Log\n\n## Next\n",
    "## Session Log\nLast session: 2026-03-28\nStatus: active — did it\n\n## Next\n",
  ],
  [
    "a session of a note without a log",
    session,
    "## Role\nWork.",
    "## Role\nWork.\n\n## Session Log\nLast session: 2026-03-28\nStatus: active — did it\n",
  ],
  [
    "a trimmed log",
    trim,
    "## Session Log\nIntro\nLast session: 2026-03-28\nStatus: b\n\nLast session: 2026-03-27\nStatus: a\nmore\n\n## Next\n",
    "## Session Log\nIntro\nLast session: 2026-03-28\nStatus: b\n\n## Next\n",
  ],
  [
    "a trimmed log that goes on downwards",
    trim,
    "## Session Log\n- 2026-03-27 a\n- 2026-03-28 b\n- 2026-03-28 c\n",
    "## Session Log\n- 2026-03-28 c\n",
  ],
])("%s changes nothing else", (_, edit, before, after) => {
  expect(isNoteEditDone(before, edit)).toBe(false);
  expect(applyNoteEdit(before, edit)).toBe(after);
  expect(isNoteEditDone(after, edit)).toBe(true);
  expect(applyNoteEdit(after, edit)).toBe(after);
});

test("a log that nobody can tell the entries of stays as it is", () => {
  const text = "## Session Log\nOn Monday I did this.\n\nOn Tuesday that.\n";
  expect(applyNoteEdit(text, trim)).toBe(text);
});

test("a field has no place in frontmatter without an end", () => {
  expect(() => applyNoteEdit("---\nname: X\n", inactive)).toThrow(
    expect.objectContaining({ code: "state_conflict" }),
  );
});

test("any value of a field is read as it was written, and edits made twice are made once", () => {
  const fragments = fc.constantFrom(
    "---",
    "name: X",
    "status: active",
    "status: >",
    "status: 'a' # b",
    "  more",
    "- item",
    "# comment",
    "",
    "## Session Log",
    "## Role",
    "Last session: 2026-03-27",
    "### 2026-03-26",
    "Status: old",
    "```",
    "Text",
  );
  const notes = fc
    .tuple(fc.boolean(), fc.array(fc.tuple(fragments, fc.constantFrom("\n", "\r\n"))), fc.string())
    .map(
      ([has, lines, last]) =>
        (has ? "---\nname: X\nstatus: active\n---\n" : "") + lines.flat().join("") + last,
    );
  const values = fc.oneof(
    fc.string(),
    fc.constantFrom("", " ", "~", "null", "- x", "a: b", "x #y", "'", '"', "|", "日"),
  );
  const edits: fc.Arbitrary<NoteEdit> = fc.oneof(
    values.map((value) => ({ kind: "field" as const, name: "status", value })),
    fc.record({
      kind: fc.constant("session" as const),
      date: fc.constant("2026-03-28"),
      status: fc.string(),
    }),
    fc.constant(trim),
  );
  fc.assert(
    fc.property(notes, edits, (text, edit) => {
      fc.pre(
        edit.kind !== "field" || !readNote(text).problems.some(({ rule }) => rule === "frontmatter-open"),
      );
      const once = applyNoteEdit(text, edit);
      const note = readNote(once);
      fc.pre(!note.problems.some(({ rule }) => rule === "frontmatter-invalid"));
      expect(isNoteEditDone(once, edit)).toBe(true);
      expect(applyNoteEdit(once, edit)).toBe(once);
      expect(edit.kind !== "field" || note.fields.get("status") === edit.value).toBe(true);
      expect(edit.kind === "session" && once.length < text.length).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});
