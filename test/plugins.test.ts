/** Plugins are used as they were when they were pinned, through all of Cortex and its command line. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { MAIN_SESSION } from "../src/model/session-key.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { environmentOf } from "./support/cli.ts";
import { openTestCortex, testTool, writeHome } from "./support/home.ts";
import { runHere } from "./support/run-here.ts";
import { temporaryFolder } from "./support/temporary.ts";

const NEVER = new AbortController().signal;
const SCRIPT = `
- when: ^work
  plays:
    - calls: [{ tool: Work, args: {} }]
    - say: done
- when: ^twice
  plays:
    - calls: [{ tool: Work, args: {} }]
    - calls: [{ tool: Work, args: {} }]
    - say: done
`;

/** A home whose agent has a plugin with a hook that writes down that it ran, and a skill. */
function homeWithPlugin(pluginDirs = ["plugins/guard"]) {
  const folder = temporaryFolder();
  const home = folder.path;
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  const ran = join(home, "ran");
  write("plugins/guard/.claude-plugin/plugin.json", '{"name":"guard"}');
  const command = 'sh "$CLAUDE_PLUGIN_ROOT/check.sh"';
  const hooks = { PreToolUse: [{ matcher: "Work", hooks: [{ type: "command", command }] }] };
  write("plugins/guard/hooks/hooks.json", JSON.stringify({ hooks }));
  write("plugins/guard/check.sh", `echo ran >> '${ran}'`);
  write("plugins/guard/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: About PDF.\n---\nDo it.");
  writeHome(home, { cortex: { agents: { main: { pluginDirs } } }, script: SCRIPT });
  return {
    home,
    write,
    ran: () => (existsSync(ran) ? readFileSync(ran, "utf8").split("\n").length - 1 : 0),
    cortex: (...argv: readonly string[]) => runHere(environmentOf(home), argv),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

async function say(cortex: Cortex, content: string) {
  const { item } = await cortex.send({ content, session: "main" });
  await cortex.outcome(item, NEVER);
  const head = await cortex.store.sessions.head(MAIN_SESSION);
  return (await cortex.store.turns.read(head!))!;
}

const done = () => testTool("Work", async () => ({ kind: "done", result: { text: "worked" } }));

test("a plugin is pinned at the first start; its programs run until it changes, and again once that is accepted", async () => {
  using given = homeWithPlugin();
  const log: string[] = [];
  const tool = done();
  const options = { home: given.home, tools: [tool], log: (line: string) => void log.push(line) };
  await using cortex = await openTestCortex({}, options);
  expect(log).toContainEqual(expect.stringContaining("Pinned the plugin plugins/guard as it is now"));
  await say(cortex, "work");
  expect([given.ran(), tool.calls.length]).toEqual([1, 1]);

  given.write("plugins/guard/check.sh", "exit 0");
  expect((await say(cortex, "work")).toolCalls).toMatchObject([
    {
      status: "error",
      result: { text: expect.stringContaining("changed after it was pinned: changed check.sh") },
    },
  ]);
  expect([given.ran(), tool.calls.length]).toEqual([1, 1]);
  expect(log).toContainEqual(expect.stringContaining("run `cortex plugins pin plugins/guard`"));

  const { out, code } = await given.cortex("plugins", "pin", "plugins/guard");
  expect([out, code]).toEqual([
    "~ check.sh\n0 files added, 1 changed, 0 removed\nPinned plugins/guard.\n",
    0,
  ]);
  expect((await say(cortex, "work")).toolCalls).toMatchObject([{ status: "ok" }]);
});

test("each content of a plugin that is accepted is in the audit log", async () => {
  using given = homeWithPlugin();
  const pins = async (): Promise<unknown[]> => {
    await using cortex = await openTestCortex({}, { home: given.home });
    const { items } = await cortex.store.audit.list();
    return items
      .filter(({ kind }) => kind === "plugin.pin")
      .map(({ principal, object, detail }) => ({ principal, object, detail }));
  };
  const [object, fingerprint] = ["plugins/guard", expect.stringMatching(/^[0-9a-f]{64}$/)];
  expect(await pins()).toEqual([{ object, principal: "cortex", detail: { fingerprint, before: null } }]);
  given.write("plugins/guard/check.sh", "exit 0\n");
  expect(await pins()).toHaveLength(1);
  await given.cortex("plugins", "pin", "plugins/guard");
  expect(await pins()).toEqual([
    { object, principal: "owner", detail: { fingerprint, before: fingerprint } },
    { object, principal: "cortex", detail: { fingerprint, before: null } },
  ]);
});

test("a plugin that changes between two calls of a turn does not run for the second", async () => {
  using given = homeWithPlugin();
  const tool = testTool("Work", async () => {
    given.write("plugins/guard/check.sh", `touch '${join(given.home, "stolen")}'`);
    return { kind: "done", result: { text: "worked" } };
  });
  await using cortex = await openTestCortex({}, { home: given.home, tools: [tool] });
  expect((await say(cortex, "twice")).toolCalls).toMatchObject([
    { status: "ok" },
    { status: "error", result: { text: expect.stringContaining("changed check.sh") } },
  ]);
  expect([given.ran(), tool.calls.length, existsSync(join(given.home, "stolen"))]).toEqual([1, 1, false]);
});

test("nothing of a plugin changes behind a link into its .git", async () => {
  using given = homeWithPlugin();
  const plugin = join(given.home, "plugins/guard");
  mkdirSync(join(plugin, ".git"));
  renameSync(join(plugin, "hooks"), join(plugin, ".git/hooks"));
  symlinkSync(".git/hooks", join(plugin, "hooks"));
  const tool = done();
  await using cortex = await openTestCortex({}, { home: given.home, tools: [tool] });
  expect((await say(cortex, "work")).toolCalls).toMatchObject([
    { status: "error", result: { text: expect.stringContaining("hooks is a symbolic link into its .git") } },
  ]);
  expect([given.ran(), tool.calls.length]).toEqual([0, 0]);
  expect((await given.cortex("plugins")).out).toMatch(/^plugins\/guard +refused/);
});

test.each<readonly [string, (plugin: string) => void, string]>([
  [
    "changes and has linked hooks",
    (plugin) => writeFileSync(join(plugin, "README.md"), ""),
    "added README.md",
  ],
  ["is gone", (plugin) => renameSync(plugin, `${plugin}-before`), "its folder is missing"],
])("no call is made while a plugin with hooks %s", async (_, change, why) => {
  using given = homeWithPlugin();
  const plugin = join(given.home, "plugins/guard");
  renameSync(join(plugin, "hooks"), join(plugin, "real"));
  symlinkSync("real", join(plugin, "hooks"));
  const tool = done();
  await using cortex = await openTestCortex({}, { home: given.home, tools: [tool] });
  await say(cortex, "work");
  expect([given.ran(), tool.calls.length]).toEqual([1, 1]);
  change(plugin);
  expect((await say(cortex, "work")).toolCalls).toMatchObject([
    { status: "error", result: { text: expect.stringContaining(why) } },
  ]);
  expect([given.ran(), tool.calls.length]).toEqual([1, 1]);
});

test("a plugin in a workspace is neither pinned nor run before its owner pins it", async () => {
  using given = homeWithPlugin(["workspaces/main/guard"]);
  mkdirSync(join(given.home, "workspaces/main"), { recursive: true });
  for (const path of [".claude-plugin/plugin.json", "hooks/hooks.json", "check.sh"])
    given.write(
      `workspaces/main/guard/${path}`,
      readFileSync(join(given.home, "plugins/guard", path), "utf8"),
    );
  const log: string[] = [];
  await using cortex = await openTestCortex(
    {},
    { home: given.home, tools: [done()], log: (line) => void log.push(line) },
  );
  expect(log).toContainEqual(expect.stringContaining("agents can write to it: agents.main.workspace"));
  expect((await say(cortex, "work")).toolCalls).toMatchObject([{ status: "error" }]);
  expect(given.ran()).toBe(0);
  expect((await given.cortex("plugins", "pin", "workspaces/main/guard")).code).toBe(0);
  expect((await say(cortex, "work")).toolCalls).toMatchObject([{ status: "ok" }]);
  expect(given.ran()).toBe(1);
});

test("a plugin in the project of a team's member is not pinned by itself", async () => {
  using given = homeWithPlugin();
  given.write("config.yaml", `team_dir: ${join(given.home, "team")}\n`);
  given.write("team/agents/dev/dev.md", `---\nname: dev\nproject: ${join(given.home, "plugins")}\n---\n`);
  const log: string[] = [];
  await using cortex = await openTestCortex(
    {},
    { home: given.home, tools: [done()], log: (line) => void log.push(line) },
  );
  const why = "agents can write to it: project of agents/dev/dev.md";
  expect(log).toContainEqual(expect.stringContaining(why));
  expect((await say(cortex, "work")).toolCalls).toMatchObject([{ status: "error" }]);
  expect(given.ran()).toBe(0);
  for (const argv of [["plugins"], ["agents", "show", "main"], ["doctor", "--offline"]])
    expect((await given.cortex(...argv)).out).toContain(why);
});

test("a plugin that is added while Cortex runs is pinned when the configuration is read", async () => {
  using given = homeWithPlugin([]);
  const log: string[] = [];
  await using _ = await openTestCortex({}, { home: given.home, log: (line) => void log.push(line) });
  expect(existsSync(join(given.home, "config/plugins.lock"))).toBe(false);
  const cortex = JSON.stringify({ agents: { main: { pluginDirs: ["plugins/guard"] } } });
  writeFileSync(join(given.home, "config/cortex.json"), cortex);
  await expect
    .poll(() => log, { timeout: 30_000 })
    .toContainEqual(expect.stringContaining("Pinned the plugin"));
});

test("`agents show`, the doctor and `plugins` say what changed and how to accept it", async () => {
  using given = homeWithPlugin();
  expect((await given.cortex("plugins")).out).toMatch(/^plugins\/guard +new +[0-9a-f]{12} +main\n$/);
  expect((await given.cortex("plugins", "pin", "plugins/guard", "--check")).out).toContain("+ check.sh\n");
  expect(existsSync(join(given.home, "config/plugins.lock"))).toBe(false);
  await given.cortex("plugins", "pin", "plugins/guard");
  expect((await given.cortex("doctor", "--offline")).out).toMatch(/plugins +1 plugin matches its pin/);

  given.write("plugins/guard/new.sh", "");
  rmSync(join(given.home, "plugins/guard/skills"), { recursive: true });
  const changes = "added new.sh; removed skills/pdf/SKILL.md";
  for (const argv of [
    ["agents", "show", "main"],
    ["doctor", "--offline"],
    ["agents", "check"],
  ]) {
    const { out } = await given.cortex(...argv);
    expect(out).toContain(changes);
    expect(out).toContain("cortex plugins pin plugins/guard");
  }
  expect((await given.cortex("plugins", "list")).out).toMatch(
    /^plugins\/guard +changed .*main\n +added new\.sh;/,
  );
  const { items } = JSON.parse((await given.cortex("plugins", "list", "--json")).out);
  expect(items).toMatchObject([
    {
      folder: "plugins/guard",
      state: "changed",
      pinnedBy: "owner",
      changes: { added: ["new.sh"], changed: [], removed: ["skills/pdf/SKILL.md"] },
      agents: ["main"],
    },
  ]);
});

test("a plugin that is gone, or that cannot be pinned, is listed as such", async () => {
  using given = homeWithPlugin(["plugins/guard", "plugins/gone"]);
  await given.cortex("plugins", "pin", "plugins/guard");
  expect((await given.cortex("plugins")).out).toMatch(
    /^plugins\/gone +missing .*\n.*no such folder\nplugins\/guard +pinned /,
  );
  expect(await given.cortex("plugins", "pin", "plugins/gone")).toMatchObject({
    code: 1,
    err: expect.stringContaining("plugins/gone"),
  });
  writeHome(given.home, {});
  expect((await given.cortex("plugins")).out).toMatch(/^plugins\/guard +pinned +\w+ +no agent names it\n$/);
});
