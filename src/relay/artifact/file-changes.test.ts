import { describe, expect, test } from "vitest";

import { compareTexts, MAX_DIFFED_CHARACTERS, MAX_DIFFERENT_LINES } from "../../model/compare-texts.ts";
import { type FileChange, type FileTouch, mergeChanges, replayTouches } from "./file-changes.ts";

const FILE = "/project/a.txt";

const write = (content: string, original?: string | null): FileTouch => ({
  path: FILE,
  original,
  done: { kind: "write", content },
});
/** Replaces the line with this number. */
const edit = (line: number, before: string, after: string, original?: string): FileTouch => ({
  path: FILE,
  original,
  done: {
    kind: "patch",
    hunks: [{ oldStart: line, oldLines: 1, newStart: line, newLines: 1, lines: [`-${before}`, `+${after}`] }],
  },
});
const replace = (oldText: string, newText: string, original?: string): FileTouch => ({
  path: FILE,
  original,
  done: { kind: "replace", edits: [{ oldText, newText }] },
});

async function shownOf(...touches: readonly FileTouch[]) {
  const changes = await replayTouches(touches);
  expect(changes).toHaveLength(1);
  return changes[0]!.shown;
}

/** The lines of a diff that were taken away or added. */
async function linesOf(...touches: readonly FileTouch[]): Promise<readonly string[]> {
  const shown = await shownOf(...touches);
  const text = shown.kind === "diff" ? shown.diff : "";
  return text.split("\n").filter((line) => /^[-+](?![-+]{2} )/.test(line));
}

test("an edit is shown as a unified diff", async () => {
  expect(await shownOf(edit(2, "two", "2", "one\ntwo\nthree\n"))).toEqual({
    kind: "diff",
    diff: "--- /project/a.txt\n+++ /project/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
  });
});

test("several edits are one difference", async () => {
  expect(await linesOf(edit(1, "one", "1", "one\ntwo\n"), edit(2, "two", "2", "1\ntwo\n"))).toEqual([
    "-one",
    "-two",
    "+1",
    "+2",
  ]);
});

test("what others did to the file in between is not the agent's", async () => {
  const touches = [edit(1, "one", "1", "one\ntwo\nthree\n"), edit(3, "three", "3", "1\nFOREIGN\nthree\n")];
  expect(await linesOf(...touches)).toEqual(["-one", "+1", "-three", "+3"]);
});

test("an edit whose surroundings are a little different still fits", async () => {
  const lines = [" nought", " one", "-two", "+2", " three"];
  const moved: FileTouch = {
    path: FILE,
    original: "new\nzero\none\ntwo\nthree\n",
    done: { kind: "patch", hunks: [{ oldStart: 1, oldLines: 4, newStart: 1, newLines: 4, lines }] },
  };
  expect(await linesOf(moved)).toEqual(["-two", "+2"]);
});

test("a file that is written and then edited begins with what it was before", async () => {
  expect(await linesOf(write("one\ntwo\n", "old\n"), edit(2, "two", "2"))).toEqual(["-old", "+one", "+2"]);
});

test("a file that is edited and then written ends with what was written", async () => {
  expect(await linesOf(edit(1, "one", "1", "one\n"), write("new\n", "1\n"))).toEqual(["-one", "+new"]);
});

test("of two writes the second counts", async () => {
  expect(await linesOf(write("first\n", "old\n"), write("second\n", "first\n"))).toEqual(["-old", "+second"]);
});

test("a file that is created and then edited is new as a whole", async () => {
  expect(await linesOf(write("one\n", null), edit(1, "one", "1"))).toEqual(["+1"]);
});

test("a file of which nothing is known before it is written is new as a whole", async () => {
  expect(await linesOf(write("one\n"))).toEqual(["+one"]);
});

test("what is changed and changed back is no change", async () => {
  expect(await shownOf(edit(1, "one", "1", "one\n"), edit(1, "1", "one"))).toEqual({
    kind: "diff",
    diff: "",
  });
});

test("replacements are replayed on what was there", async () => {
  expect(await linesOf(replace("two", "2", "one\ntwo\n"), replace("one", "1"))).toEqual([
    "-one",
    "-two",
    "+1",
    "+2",
  ]);
});

test("edits of a file that is not known are shown by themselves", async () => {
  expect(await shownOf(replace("old\n", "new\nlines\n"))).toEqual({
    kind: "hunks",
    hunks: "@@ somewhere @@\n-old\n+new\n+lines",
  });
});

test("edits that do not fit are shown by themselves", async () => {
  expect(await shownOf(write("x\n", "y\n"), edit(1, "one", "1"))).toEqual({
    kind: "hunks",
    hunks: "@@ the whole file @@\n+x\n@@ -1,1 +1,1 @@\n-one\n+1",
  });
  expect(await shownOf(replace("two", "2", "one\n"))).toMatchObject({ kind: "hunks" });
});

test("where one change is unknown there is no diff", async () => {
  const unknown: FileTouch = { path: FILE, done: { kind: "unknown", why: "too large" } };
  expect(await shownOf(edit(1, "one", "1", "one\n"), unknown)).toEqual({
    kind: "unavailable",
    why: "too large",
  });
});

test("the same path on two devices is two files, in the order in which they were touched", async () => {
  const changes = await replayTouches([
    { ...write("1\n"), device: "laptop" },
    write("2\n"),
    { ...write("3\n"), device: "laptop" },
  ]);
  expect(changes).toMatchObject([{ device: "laptop" }, { path: FILE }]);
  expect(changes[1]).not.toHaveProperty("device", "laptop");
});

test("texts that are too large or too different are not compared", async () => {
  const long = "x".repeat(MAX_DIFFED_CHARACTERS);
  expect(await compareTexts("a", long, "y")).toEqual({ kind: "unavailable", why: "too large" });
  expect(await compareTexts("a", manyLines("a"), manyLines("b"))).toEqual({
    kind: "unavailable",
    why: "too different",
  });
});

test("what is no text is not compared", async () => {
  expect(await compareTexts("a", "one\n", "\0\n")).toEqual({ kind: "unavailable", why: "binary" });
});

test("a file that is new or gone is shown whatever its length", async () => {
  const text = manyLines("a").repeat(2);
  expect(await compareTexts("a", "", text)).toEqual({
    kind: "diff",
    diff: `--- a\n+++ a\n@@ -0,0 +1,${2 * MAX_DIFFERENT_LINES} @@\n${text.replaceAll(/^(?=.)/gm, "+")}`,
  });
  expect(await compareTexts("a", "one\ntwo", "")).toEqual({
    kind: "diff",
    diff: "--- a\n+++ a\n@@ -1,2 +0,0 @@\n-one\n-two\n\\ No newline at end of file\n",
  });
});

function manyLines(word: string): string {
  return Array.from({ length: MAX_DIFFERENT_LINES }, (_, at) => `${word}${at}\n`).join("");
}

describe("what was done and what was seen", () => {
  const diff = (path: string, text: string): FileChange => ({ path, shown: { kind: "diff", diff: text } });
  const large = (path: string): FileChange => ({ path, shown: { kind: "unavailable", why: "too large" } });

  test("a file that both know is there once, as it was seen", () => {
    expect(
      mergeChanges([diff("/a", "done"), diff("/b", "done")], [diff("/b", "seen"), diff("/c", "seen")]),
    ).toEqual([diff("/a", "done"), diff("/b", "seen"), diff("/c", "seen")]);
  });

  test("where what was seen cannot be shown, what was done is", () => {
    expect(mergeChanges([diff("/a", "done")], [large("/a")])).toEqual([diff("/a", "done")]);
  });

  test("of what was seen twice, the last time counts", () => {
    expect(mergeChanges([], [diff("/a", "1"), diff("/a", "2")])).toEqual([diff("/a", "2")]);
  });

  test("a file of another machine is another file", () => {
    const far = { ...diff("/a", "done"), device: "laptop" };
    expect(mergeChanges([far], [diff("/a", "seen")])).toEqual([far, diff("/a", "seen")]);
  });
});
