import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { testWorkspace } from "../../../test/support/tool-context.ts";
import {
  MAX_NAMED_PROGRAMS,
  MAX_PROGRAM_BYTES,
  MAX_SEARCHED_WORDS,
  namedPrograms,
} from "./named-programs.ts";

function workspaceWith(...names: readonly string[]) {
  const files = testWorkspace();
  for (const name of names) {
    const path = join(files.context.workspace, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "echo\n");
  }
  return files;
}

test.each([
  ["bash x.sh", ["x.sh"]],
  ["sh plain", ["plain"]],
  ["node --test 'a/tool.js' data.txt", ["a/tool.js"]],
  ["cd a && ./run --fast; true", []], // it is relative to another folder
  ["a/run --fast | cat data.txt", ["a/run"]],
  ['bash -c "x.sh"', ["x.sh"]],
  [". plain", ["plain"]],
  ["make all", ["Makefile"]],
  ["npm test", ["package.json"]],
  ["cat data.txt", []],
  ["link.sh", ["x.sh"]],
  ["bash ../outside/evil.sh", []],
])("%s runs %j", async (command, expected) => {
  using files = workspaceWith(
    "x.sh",
    "plain",
    "a/tool.js",
    "a/run",
    "data.txt",
    "Makefile",
    "package.json",
    "../outside/evil.sh",
  );
  const { workspace } = files.context;
  chmodSync(join(workspace, "a/run"), 0o755);
  symlinkSync("x.sh", join(workspace, "link.sh"));
  const found = await namedPrograms(command, files.context);
  expect(found.map(({ path }) => path)).toEqual(expected);
  for (const { sha256 } of found) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
});

test("the search is bounded", async () => {
  const many = Array.from({ length: MAX_NAMED_PROGRAMS + 5 }, (_, at) => `${at}.sh`);
  using files = workspaceWith(...many, "huge.sh");
  expect(await namedPrograms(many.join(" "), files.context)).toHaveLength(MAX_NAMED_PROGRAMS);
  expect(await namedPrograms(`${"word ".repeat(MAX_SEARCHED_WORDS)}1.sh`, files.context)).toEqual([]);
  writeFileSync(join(files.context.workspace, "huge.sh"), Buffer.alloc(MAX_PROGRAM_BYTES + 1));
  expect(await namedPrograms("sh huge.sh", files.context)).toEqual([]);
});
