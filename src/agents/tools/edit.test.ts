import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { callTool, testWorkspace } from "../../../test/support/tool-context.ts";
import { applyEdits, editTool, MAX_EDITED_BYTES, MAX_EDITS, type TextEdit } from "./edit.ts";

async function edit(text: string, ...edits: readonly TextEdit[]): Promise<string> {
  return (await applyEdits(Buffer.from(text), edits, "a.txt")).toString();
}

test("a file is edited, all places at once", async () => {
  using files = testWorkspace();
  const path = join(files.context.workspace, "a.txt");
  writeFileSync(path, "one\ntwo\nthree\n");
  const edits = [
    { oldText: "three", newText: "one" },
    { oldText: "one", newText: "three" },
  ];

  const result = await callTool(editTool, { path: "a.txt", edits }, files.context);
  expect(result.text).toBe('Edited "a.txt": 2 replacements.');
  expect(readFileSync(path, "utf8")).toBe("three\ntwo\none\n");
});

test("if one edit does not fit, none is made, and every problem is named", async () => {
  using files = testWorkspace();
  const path = join(files.context.workspace, "a.txt");
  writeFileSync(path, "a b b abc");
  const edits = ["c", "b", "none", "bc", "abc"].map((oldText) => ({ oldText, newText: "x" }));

  await expect(callTool(editTool, { path: "a.txt", edits }, files.context)).rejects.toMatchObject({
    code: "tool_input_invalid",
    message:
      '"a.txt" was not changed: edits[1].oldText occurs 3 times, expected exactly once; ' +
      "edits[2].oldText occurs 0 times, expected exactly once; edits[4] and edits[3] overlap; edits[3] and edits[0] overlap",
  });
  expect(readFileSync(path, "utf8")).toBe("a b b abc");
});

test("a text that overlaps with itself does not occur once", async () => {
  await expect(edit("aaa", { oldText: "aa", newText: "b" })).rejects.toThrow("occurs 2 times");
});

test("edits that touch do not overlap", async () => {
  expect(await edit("ab", { oldText: "a", newText: "1" }, { oldText: "b", newText: "2" })).toBe("12");
});

test("an edit that changes nothing is pointed out", async () => {
  await expect(edit("a", { oldText: "a", newText: "a" })).rejects.toThrow("the edits have no effect");
});

test("the line endings of Windows and the byte order mark are kept", async () => {
  expect(await edit("\ufeffa\r\nb\r\nc\r\n", { oldText: "a\nb", newText: "1\n2\n3" })).toBe(
    "\ufeff1\r\n2\r\n3\r\nc\r\n",
  );
  expect(await edit("a\r\nb\r\n", { oldText: "b", newText: "1\r\n2" })).toBe("a\r\n1\r\n2\r\n");
  expect(await edit("a\nb\n", { oldText: "b", newText: "1\n2" })).toBe("a\n1\n2\n");
});

test("special patterns of replacement are plain text", async () => {
  expect(await edit("a b", { oldText: "b", newText: "$& $1 $$" })).toBe("a $& $1 $$");
});

test("whatever is not replaced stays byte for byte", async () => {
  const bytes = fc
    .uint8Array({ maxLength: 200 })
    .map((array) => Buffer.from(array.filter((byte) => byte !== 0x40)));
  await fc.assert(
    fc.asyncProperty(bytes, bytes, async (before, after) => {
      const original = Buffer.concat([before, Buffer.from("@"), after]);
      const edited = await applyEdits(original, [{ oldText: "@", newText: "new" }], "a");
      expect(edited.equals(Buffer.concat([before, Buffer.from("new"), after]))).toBe(true);
    }),
  );
});

test("a file that is too large and a list of edits that is too long are refused", async () => {
  using files = testWorkspace();
  const path = join(files.context.workspace, "large");
  writeFileSync(path, "a");
  const edit = { oldText: "a", newText: "b" };
  const edits = Array.from({ length: MAX_EDITS + 1 }, () => edit);
  await expect(callTool(editTool, { path: "large", edits }, files.context)).rejects.toMatchObject({
    code: "tool_input_invalid",
  });
  truncateSync(path, MAX_EDITED_BYTES + 1);
  await expect(callTool(editTool, { path: "large", edits: [edit] }, files.context)).rejects.toMatchObject({
    code: "tool_failed",
    message: `"large" is larger than ${MAX_EDITED_BYTES} bytes`,
  });
});

test("an edit is not made again by itself", () => {
  expect(editTool.repeatable).toBe(false);
});
