/** What a persona and the owner's hooks allow, through all of Cortex. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { MAIN_SESSION } from "../src/model/session-key.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { openTestCortex, testTool, writeHome } from "./support/home.ts";
import { temporaryFolder } from "./support/temporary.ts";

const NEVER = new AbortController().signal;
const SCRIPT = `
- when: ^work
  plays:
    - calls: [{ tool: Work, args: { word: hello } }]
    - say: done
`;

async function work(cortex: Cortex) {
  const { item } = await cortex.send({ content: "work", session: "main" });
  await cortex.outcome(item, NEVER);
  const head = await cortex.store.sessions.head(MAIN_SESSION);
  return (await cortex.store.turns.read(head!))!;
}

const echo = () =>
  testTool("Work", async (params) => ({ kind: "done", result: { text: JSON.stringify(params) } }));

test("what a turn was granted, and what it used of it, is kept with it", async () => {
  const permissions = { hosts: ["example.org"], spendUsdPerDay: 3 };
  await using cortex = await openTestCortex(
    { cortex: { personas: { atlas: { permissions } } }, script: SCRIPT },
    { tools: [echo()] },
  );
  expect((await work(cortex)).turn.facts.permissions).toMatchObject({
    granted: { hosts: [["example.org"]], spendUsdPerDay: 3, tools: { allow: [["*"], ["*"]], deny: [] } },
    used: { tools: ["Work"] },
  });
});

test("an agent whose persona forbids everything still answers, and does nothing", async () => {
  const permissions = {
    tools: { allow: [], deny: ["*"] },
    roots: [],
    hosts: [],
    channels: [],
    spendUsdPerDay: 0,
  };
  const tool = echo();
  await using cortex = await openTestCortex(
    { cortex: { personas: { atlas: { permissions } } }, script: SCRIPT },
    { tools: [tool] },
  );
  const { messages, toolCalls } = await work(cortex);
  expect(messages.at(-1)!.content).toBe("done");
  expect(toolCalls).toMatchObject([
    { status: "error", result: { text: expect.stringContaining("Unknown tool") } },
  ]);
  expect(tool.calls).toEqual([]);
});

test("hooks of the owner and of plugins change, refuse and annotate calls", async () => {
  using home = temporaryFolder();
  const plugin = join(home.path, "plugins", "polite");
  mkdirSync(join(plugin, ".claude-plugin"), { recursive: true });
  mkdirSync(join(plugin, "hooks"));
  writeFileSync(join(plugin, ".claude-plugin", "plugin.json"), '{"name":"polite"}');
  const annotate = `echo '{"hookSpecificOutput":{"additionalContext":"the plugin was here"}}'`;
  const hooks = { PostToolUse: [{ matcher: "Work", hooks: [{ type: "command", command: annotate }] }] };
  writeFileSync(join(plugin, "hooks", "hooks.json"), JSON.stringify({ hooks }));
  const change = `echo '{"hookSpecificOutput":{"updatedInput":{"word":"goodbye"}}}'`;
  const toolHooks = [{ event: "before", match: "Wo*", command: change }];
  const agents = { main: { pluginDirs: ["plugins/polite"] } };
  writeHome(home.path, { cortex: { agents, toolHooks }, script: SCRIPT });
  const tool = echo();
  {
    await using cortex = await openTestCortex({}, { home: home.path, tools: [tool] });
    const { toolCalls } = await work(cortex);
    expect(toolCalls).toMatchObject([
      { params: { word: "hello" }, result: { text: '{"word":"goodbye"}\n\nthe plugin was here' } },
    ]);
  }
  const refuse = { event: "before", match: "*", command: "echo not on Sundays >&2; exit 2" };
  writeHome(home.path, { cortex: { toolHooks: [...toolHooks, refuse] }, script: SCRIPT });
  await using cortex = await openTestCortex({}, { home: home.path, tools: [tool] });
  expect((await work(cortex)).toolCalls).toMatchObject([
    { status: "error", result: { text: "This call was not made: not on Sundays" } },
  ]);
  expect(tool.calls).toEqual([{ word: "goodbye" }]);
});

test("hooks of a plugin that the agent does not name are not run", async () => {
  using home = temporaryFolder();
  const plugin = join(home.path, "plugins", "other");
  mkdirSync(join(plugin, ".claude-plugin"), { recursive: true });
  mkdirSync(join(plugin, "hooks"));
  writeFileSync(join(plugin, ".claude-plugin", "plugin.json"), '{"name":"other"}');
  const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: "exit 2" }] }] };
  writeFileSync(join(plugin, "hooks", "hooks.json"), JSON.stringify({ hooks }));
  writeHome(home.path, { script: SCRIPT });
  await using cortex = await openTestCortex({}, { home: home.path, tools: [echo()] });
  expect((await work(cortex)).toolCalls).toMatchObject([{ status: "ok" }]);
});

test("hooks of a plugin that cannot be read let no call through, and say why", async () => {
  using home = temporaryFolder();
  const plugin = join(home.path, "plugins", "broken");
  mkdirSync(join(plugin, ".claude-plugin"), { recursive: true });
  mkdirSync(join(plugin, "hooks"));
  writeFileSync(join(plugin, ".claude-plugin", "plugin.json"), '{"name":"broken"}');
  writeFileSync(join(plugin, "hooks", "hooks.json"), "{");
  writeHome(home.path, {
    cortex: { agents: { main: { pluginDirs: ["plugins/broken"] } } },
    script: SCRIPT,
  });
  const log: string[] = [];
  const tool = echo();
  await using cortex = await openTestCortex(
    {},
    { home: home.path, tools: [tool], log: (line) => log.push(line) },
  );
  expect((await work(cortex)).toolCalls).toMatchObject([
    { status: "error", result: { text: expect.stringContaining("Invalid plugin hooks in") } },
  ]);
  expect(log).toContainEqual(expect.stringContaining("hooks.json"));
  expect(tool.calls).toEqual([]);
});
