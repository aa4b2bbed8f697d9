import { mkdirSync, openSync, symlinkSync, writeFileSync, writeSync, closeSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { callTool, testWorkspace, type TestWorkspace } from "../../../test/support/tool-context.ts";
import type { Json } from "../../model/json.ts";
import { capOutput, MAX_SHOWN_BYTES, MAX_SHOWN_LINES } from "./output.ts";
import { readTool } from "./read.ts";

function put(files: TestWorkspace, name: string, content: string | Buffer): void {
  writeFileSync(join(files.context.workspace, name), content);
}

async function read(files: TestWorkspace, params: Json): Promise<string> {
  return (await callTool(readTool, params, files.context)).text;
}

test("a short file is shown as it is, without the newline at its end", async () => {
  using files = testWorkspace();
  put(files, "a.txt", "one\r\n  two\n");
  expect(await read(files, { path: "a.txt" })).toBe("one\r\n  two");
});

test("a byte order mark is not shown", async () => {
  using files = testWorkspace();
  put(files, "a.txt", "\ufeffone");
  expect(await read(files, { path: "a.txt" })).toBe("one");
});

test("offset and limit choose lines, and the result says how to go on", async () => {
  using files = testWorkspace();
  put(files, "a.txt", "1\n2\n3\n4\n");
  expect(await read(files, { path: "a.txt", offset: 2, limit: 2 })).toBe(
    "2\n3\n\n[Truncated. Continue with offset 4.]",
  );
  expect(await read(files, { path: "a.txt", offset: 3, limit: 2 })).toBe("3\n4");
});

test("a file with many lines is cut after the limit", async () => {
  using files = testWorkspace();
  put(files, "a.txt", "x\n".repeat(MAX_SHOWN_LINES + 1));
  const text = await read(files, { path: "a.txt" });
  expect(text.split("\n").indexOf("")).toBe(MAX_SHOWN_LINES);
  expect(text).toContain(`Continue with offset ${MAX_SHOWN_LINES + 1}.`);
  expect(await read(files, { path: "a.txt", limit: 9999 })).toBe(text);
});

test("a line that is longer than a result is cut, and the next can be asked for", async () => {
  using files = testWorkspace();
  put(files, "a.txt", `${"é".repeat(MAX_SHOWN_BYTES)}\nend`);
  const text = await read(files, { path: "a.txt" });
  expect(text.split("\n")[0]).toBe("é".repeat(MAX_SHOWN_BYTES / 2));
  expect(text).toContain(
    "Line 1 is longer than 50 KB; only its beginning is shown. The next line has offset 2.",
  );
  expect(await read(files, { path: "a.txt", offset: 2 })).toBe("end");
});

test("the pieces that a model reads one after the other are the file", async () => {
  using files = testWorkspace();
  const line = fc
    .string({ unit: "grapheme", maxLength: 40 })
    .map((text) => text.replaceAll(/[\0\n\ufeff]/g, ""));
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1 }),
      fc.integer({ min: 1, max: 9 }),
      async (lines, limit) => {
        put(files, "a.txt", lines.map((text) => `${text}\n`).join(""));
        const pieces: string[] = [];
        for (let offset: number | undefined = 1; offset !== undefined;) {
          const text = await read(files, { path: "a.txt", offset, limit });
          const more = /\n\n\[Truncated\. Continue with offset (\d+)\.\]$/.exec(text);
          pieces.push(more === null ? text : text.slice(0, more.index));
          offset = more === null ? undefined : Number(more[1]);
        }
        expect(pieces.join("\n")).toBe(lines.join("\n"));
      },
    ),
    { numRuns: 30 },
  );
});

test("a file of gigabytes is read without being held in memory", async () => {
  using files = testWorkspace();
  const descriptor = openSync(join(files.context.workspace, "huge"), "w");
  writeSync(descriptor, "first\n".repeat(2000));
  writeSync(descriptor, "last\n", 4 * 1024 ** 3);
  closeSync(descriptor);
  expect(await read(files, { path: "huge", limit: 1 })).toContain("first\n");
});

test.each([
  ["a folder", { path: "." }, "tool_failed", "is a folder, not a file"],
  ["nothing", { path: "none" }, "tool_failed", 'Cannot use "none": no such file or folder'],
  ["a path below a file", { path: "text/x" }, "tool_failed", "part of the path is not a folder"],
  ["a binary file", { path: "binary" }, "tool_failed", '"binary" is a binary file of 3 bytes'],
  [
    "a line past the end",
    { path: "text", offset: 3 },
    "tool_input_invalid",
    'Offset 3 is past the end of "text" (2 lines)',
  ],
  ["a link to outside", { path: "link" }, "path_forbidden", "outside this agent's folders"],
  ["line 0", { path: "text", offset: 0 }, "tool_input_invalid", '"offset"'],
])("%s is refused with a reason", async (_, params, code, message) => {
  using files = testWorkspace();
  put(files, "binary", Buffer.from([1, 0, 2]));
  put(files, "text", "1\n2\n");
  symlinkSync(files.outside, join(files.context.workspace, "link"));
  await expect(read(files, params)).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
  });
});

test("an empty file is said to be empty", async () => {
  using files = testWorkspace();
  put(files, "a.txt", "");
  expect(await read(files, { path: "a.txt" })).toBe('["a.txt" is empty]');
});

test("output that was kept can be read by the path that the model was told", async () => {
  using files = testWorkspace();
  mkdirSync(join(files.context.workspace, "sub"));
  const told = await capOutput("x\n".repeat(3000), files.context);
  const path = / is in (.*)\]$/.exec(told)![1]!;
  expect(await read(files, { path, offset: 3000 })).toBe("x");
});
