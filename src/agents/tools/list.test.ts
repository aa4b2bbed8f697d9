import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { callTool, makePipe, testWorkspace, type TestWorkspace } from "../../../test/support/tool-context.ts";
import type { Json } from "../../model/json.ts";
import { listTool, MAX_LIST_DEPTH, MAX_LISTED } from "./list.ts";

async function list(files: TestWorkspace, params: Json): Promise<string> {
  return (await callTool(listTool, params, files.context)).text;
}

test("a folder is listed, and to a depth if that is asked for", async () => {
  using files = testWorkspace();
  const { workspace } = files.context;
  mkdirSync(join(workspace, "sub/deep"), { recursive: true });
  writeFileSync(join(workspace, "sub/file"), "");
  symlinkSync("../outside", join(workspace, "link"));
  makePipe(join(workspace, "pipe"));

  expect(await list(files, {})).toBe("link -> ../outside\npipe [special file]\nsub/");
  expect(await list(files, { path: "sub" })).toBe("deep/\nfile");
  expect(await list(files, { depth: 2 })).toBe(
    "link -> ../outside\npipe [special file]\nsub/\nsub/deep/\nsub/file",
  );
  expect(await list(files, { path: "sub/deep" })).toBe('["sub/deep" is empty]');
});

test("at most so many are listed", async () => {
  using files = testWorkspace();
  for (let index = 0; index <= MAX_LISTED; index += 1)
    writeFileSync(join(files.context.workspace, String(index)), "");
  const lines = (await list(files, {})).split("\n");
  expect(lines).toHaveLength(MAX_LISTED + 1);
  expect(lines.at(-1)).toBe(`[Only the first ${MAX_LISTED} entries are shown]`);
});

test.each([
  [{ path: ".." }, "path_forbidden"],
  [{ path: "none" }, "tool_failed"],
  [{ path: "file" }, "tool_failed"],
  [{ depth: MAX_LIST_DEPTH + 1 }, "tool_input_invalid"],
])("%j is refused", async (params, code) => {
  using files = testWorkspace();
  writeFileSync(join(files.context.workspace, "file"), "");
  await expect(list(files, params)).rejects.toMatchObject({ code });
});
