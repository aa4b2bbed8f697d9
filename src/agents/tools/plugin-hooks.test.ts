import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { sha256OfFolder } from "../../model/folder-hash.ts";
import { readPluginHooks } from "./plugin-hooks.ts";

function plugin(text: string) {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, "hooks"));
  writeFileSync(join(folder.path, "hooks", "hooks.json"), text);
  return folder;
}

async function readHooks(folder: string) {
  const { files } = await sha256OfFolder(folder);
  return readPluginHooks({ folder, files });
}

const command = (line: string): object => ({ type: "command", command: line, timeout: 5 });

test("the hooks of a plugin are for the tools that their matcher names", async () => {
  using folder = plugin(
    JSON.stringify({
      description: "Guards",
      hooks: {
        PreToolUse: [
          { matcher: "Edit|Write", hooks: [command("${CLAUDE_PLUGIN_ROOT}/a.sh"), { type: "prompt" }] },
          { matcher: "mcp__.*", hooks: [command("b")] },
          { hooks: [command("c")] },
        ],
        PostToolUse: [{ matcher: "*", hooks: [command("d")] }],
        SessionStart: [{ hooks: [command("e")] }],
      },
    }),
  );
  const hooks = await readHooks(folder.path);

  expect(hooks).toMatchObject([
    {
      event: "before",
      command: "${CLAUDE_PLUGIN_ROOT}/a.sh",
      timeoutMs: 5_000,
      variables: { CLAUDE_PLUGIN_ROOT: folder.path },
    },
    { event: "before", command: "b" },
    { event: "before", command: "c" },
    { event: "after", command: "d" },
  ]);
  const forTool = (tool: string): string[] =>
    hooks.filter(({ isFor }) => isFor(tool)).map(({ command: line }) => line.slice(-4));
  expect(forTool("Write")).toEqual(["a.sh".slice(-4), "c", "d"]);
  expect(forTool("mcp__files__read")).toEqual(["b", "c", "d"]);
  expect(forTool("WriteAll")).toEqual(["c", "d"]);
});

test("a plugin without hooks has none", async () => {
  using folder = temporaryFolder();
  expect(await readHooks(folder.path)).toEqual([]);
});

test.each([
  "{",
  "[]",
  '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","timeout":-1}]}]}}',
  '{"hooks":3}',
])("hooks that cannot be understood are named with their file: %s", async (text) => {
  using folder = plugin(text);
  await expect(readHooks(folder.path)).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining("hooks.json"),
  });
});

const HOOKS = JSON.stringify({ hooks: { PreToolUse: [{ hooks: [command("a")] }] } });

test.each<readonly [string, (file: string) => void]>([
  ["replaced", (file) => writeFileSync(file, HOOKS.replace('"a"', '"evil"'))],
  ["removed", (file) => rmSync(file)],
])("hooks that are %s after the plugin was checked are refused", async (_, change) => {
  using folder = plugin(HOOKS);
  const { files } = await sha256OfFolder(folder.path);
  change(join(folder.path, "hooks", "hooks.json"));
  await expect(readPluginHooks({ folder: folder.path, files })).rejects.toMatchObject({
    code: "plugin_unpinned",
    message: expect.stringContaining("hooks.json changed after it was pinned"),
  });
});

test("hooks in a linked folder are read, as long as they are those that were checked", async () => {
  using folder = plugin(HOOKS);
  renameSync(join(folder.path, "hooks"), join(folder.path, "real"));
  symlinkSync("real", join(folder.path, "hooks"));
  const { files } = await sha256OfFolder(folder.path);
  const given = { folder: folder.path, files };
  expect(await readPluginHooks(given)).toMatchObject([{ command: "a" }]);
  writeFileSync(join(folder.path, "real", "hooks.json"), "{}");
  await expect(readPluginHooks(given)).rejects.toMatchObject({ code: "plugin_unpinned" });
});

test("hooks get no variables that only their plugin names", async () => {
  using folder = plugin(HOOKS.replace('"command":"a"', '"command":"a","env":["SECRET"]'));
  const [hook] = await readHooks(folder.path);
  expect([hook?.command, hook?.env]).toEqual(["a", undefined]);
});
