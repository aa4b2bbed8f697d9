import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { readPluginHooks } from "./plugin-hooks.ts";

function plugin(text: string) {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, "hooks"));
  writeFileSync(join(folder.path, "hooks", "hooks.json"), text);
  return folder;
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
  const hooks = await readPluginHooks(folder.path);

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
  expect(await readPluginHooks(folder.path)).toEqual([]);
});

test.each([
  "{",
  "[]",
  '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","timeout":-1}]}]}}',
  '{"hooks":3}',
])("hooks that cannot be understood are named with their file: %s", async (text) => {
  using folder = plugin(text);
  await expect(readPluginHooks(folder.path)).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining("hooks.json"),
  });
});
