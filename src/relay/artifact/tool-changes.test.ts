import { expect, test } from "vitest";

import type { Json } from "../../model/json.ts";
import type { ToolCall, ToolStatus } from "../../model/message.ts";
import { renderDiffs } from "./changes.ts";
import { replayTouches } from "./file-changes.ts";
import { touchesOfCalls } from "./tool-changes.ts";

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
