import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import type { Json } from "../../model/json.ts";
import type { ToolCall, ToolStatus } from "../../model/message.ts";
import { renderDiffs, renderFiles } from "./changes.ts";
import { replayTouches } from "./file-changes.ts";
import {
  MAX_ACTIVITY_BYTES,
  MAX_ACTIVITY_LINE_LENGTH,
  parseActivity,
  readActivity,
  touchesOfCalls,
} from "./touches.ts";

const HUNK = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-one", "+1"] };
const edited = {
  ts: "2026-01-01T00:00:01Z",
  tool: "Edit",
  event: "edit_file",
  file_path: "/a",
  originalFile: "one\n",
  structuredPatch: [HUNK],
};
const written = {
  ts: "2026-01-01T00:00:02Z",
  tool: "Write",
  event: "write_file",
  file_path: "/b",
  originalFile: null,
  writtenContent: "b\n",
};

const log = (...entries: readonly unknown[]) =>
  entries.map((entry) => (typeof entry === "string" ? entry : JSON.stringify(entry))).join("\n");

test("edits and writes are read in the order of time", async () => {
  expect(await parseActivity(log(written, edited))).toEqual([
    { path: "/a", original: "one\n", done: { kind: "patch", hunks: [HUNK] } },
    { path: "/b", original: null, done: { kind: "write", content: "b\n" } },
  ]);
});

test("the names are listed once each, without blanks around them", async () => {
  const again = { ...edited, file_path: "  /a \n", ts: "2026-01-01T00:00:03Z" };
  expect(renderFiles(await parseActivity(log(edited, written, again)))).toBe("- /a\n- /b");
});

test("lines that are no JSON, other events and blank paths are passed over", async () => {
  const others = ["", "{", "null", "7", { ...edited, event: "read_file" }, { ...edited, event: "skill_use" }];
  const blank = [
    { ...edited, file_path: "  " },
    { ...edited, file_path: 7 },
    { ts: "x", event: "edit_file" },
  ];
  expect(await parseActivity(log(...others, ...blank))).toEqual([]);
  expect(await parseActivity("")).toEqual([]);
});

test("a line that is too long is passed over", async () => {
  const long = (length: number) => ({ ...written, writtenContent: "b".repeat(length) });
  const room = MAX_ACTIVITY_LINE_LENGTH - JSON.stringify(long(0)).length;
  expect(await parseActivity(log(long(room)))).toHaveLength(1);
  expect(await parseActivity(log(edited, long(room + 1)))).toHaveLength(1);
  expect(await parseActivity(log(long(room + 1)))).toEqual([]);
});

test("a change without what was there before, or with a patch that is none, is unknown", async () => {
  const { originalFile: _, ...legacy } = edited;
  const broken = { ...edited, structuredPatch: [{ lines: 7 }] };
  const degraded = { ...edited, diffDegraded: true };
  expect((await parseActivity(log(legacy, broken, degraded))).map(({ done }) => done)).toEqual([
    { kind: "unknown", why: "no snapshot" },
    { kind: "unknown", why: "no patch" },
    { kind: "unknown", why: "too large" },
  ]);
});

test("files of other devices are told apart", async () => {
  const changes = await replayTouches(
    await parseActivity(log(edited, { ...edited, device: "lab", diffDegraded: true })),
  );
  expect(renderDiffs(changes)).toBe(
    "### /a\n```diff\n--- /a\n+++ /a\n@@ -1,1 +1,1 @@\n-one\n+1\n```\n\n### /a (device: lab) [diff unavailable: too large]",
  );
});

test("the log of a session is read, and where there is none nothing was done", async () => {
  using home = temporaryFolder();
  const folder = join(home.path, "logs", "session-activity");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "abc.jsonl"), log(edited));
  writeFileSync(join(folder, "empty.jsonl"), "");
  expect(await readActivity(home.path, "abc")).toHaveLength(1);
  expect(await readActivity(home.path, "empty")).toEqual([]);
  expect(await readActivity(home.path, "missing")).toEqual([]);
  expect(await readActivity(home.path, null)).toEqual([]);
});

test("a session's name leads to no file elsewhere", async () => {
  using home = temporaryFolder();
  mkdirSync(join(home.path, "logs", "session-activity"), { recursive: true });
  writeFileSync(join(home.path, "logs", "other.jsonl"), log(edited));
  expect(await readActivity(home.path, "../other")).toEqual([]);
});

test("a log that is too long is not read", async () => {
  using home = temporaryFolder();
  const folder = join(home.path, "logs", "session-activity");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "abc.jsonl");
  writeFileSync(path, `${log(edited)}\n`);
  truncateSync(path, MAX_ACTIVITY_BYTES + 1);
  expect(await readActivity(home.path, "abc")).toEqual([]);
});

const call = (tool: string, params: Json, status: ToolStatus = "ok"): ToolCall => ({
  ordinal: 0,
  callId: "1",
  tool,
  params,
  status,
  startedAtMs: 0,
});
const edit = { path: "notes.md", edits: [{ oldText: "old", newText: "new" }] };

const touches = (...calls: readonly ToolCall[]) => touchesOfCalls(calls, { workspace: "/w" });

test("files that were written and edited are found, with their absolute paths", () => {
  expect(touches(call("Write", { path: "a/b.md", content: "text" }), call("Edit", edit))).toEqual([
    { path: "/w/a/b.md", done: { kind: "write", content: "text" } },
    { path: "/w/notes.md", done: { kind: "replace", edits: edit.edits } },
  ]);
});

test("the same tools by the names of other agents count as well", () => {
  const calls = [
    call("Write", { file_path: "/x.md", content: "text" }),
    call("Edit", { file_path: "/y.md", old_string: "a", new_string: "b" }),
    call("Edit", { file_path: "/z.md" }),
  ];
  expect(touches(...calls)).toEqual([
    { path: "/x.md", done: { kind: "write", content: "text" } },
    { path: "/y.md", done: { kind: "replace", edits: [{ oldText: "a", newText: "b" }] } },
    { path: "/z.md", done: { kind: "unknown", why: "no texts" } },
  ]);
});

test("calls that failed, were not run, or do not write are no changes", () => {
  const statuses: ToolStatus[] = ["error", "skipped", "aborted", "started"];
  expect(touches(...statuses.map((status) => call("Edit", edit, status)))).toEqual([]);
  expect(touches(call("Read", { path: "a" }), call("Bash", { command: "rm a" }))).toEqual([]);
  expect(
    touches(call("Write", null), call("Write", { path: " ", content: "" }), call("Write", { path: 7 })),
  ).toEqual([]);
});

test("a call of which nobody knows whether it took effect is named without a diff", () => {
  expect(touches(call("Edit", edit, "unknown"))).toEqual([
    { path: "/w/notes.md", done: { kind: "unknown", why: "interrupted" } },
  ]);
});

test("an edit of a file whose content is known is a difference of the whole file", async () => {
  const originals = new Map([["/w/notes.md", "first\nold\n"]]);
  const found = touchesOfCalls([call("Edit", edit)], { workspace: "/w", originals });
  expect(renderDiffs(await replayTouches(found))).toBe(
    "### /w/notes.md\n```diff\n--- /w/notes.md\n+++ /w/notes.md\n@@ -1,2 +1,2 @@\n first\n-old\n+new\n```",
  );
});
