import {
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";

import { loadConfig } from "../config/read.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { MAX_LOCK_LENGTH, pinPlugin, readPins, statePin } from "./plugin-pins.ts";
import { MAX_PLUGINS } from "./plugins.ts";
import { describeChanges, MAX_NAMED_FILES, trustedPlugins, whyNotTrusted } from "./trusted-plugins.ts";

const NOW_MS = Date.parse("2026-01-01T00:00:00Z");

/** A home with plugins `a` (with hooks) and `b` (with skills). */
function homeWithPlugins(cortex: unknown = {}) {
  const temporary = temporaryFolder();
  const home = realpathSync(temporary.path);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  for (const name of ["a", "b"])
    write(`plugins/${name}/.claude-plugin/plugin.json`, JSON.stringify({ name }));
  write("plugins/a/hooks/hooks.json", '{"hooks":{}}');
  write("plugins/b/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: x\n---\n");
  const texts = { cortex: { text: JSON.stringify(cortex) }, profiles: undefined, env: undefined };
  const { config } = loadConfig({ home, environment: {} }, texts);
  const log: string[] = [];
  return {
    home,
    write,
    log,
    a: join(home, "plugins/a"),
    b: join(home, "plugins/b"),
    lock: join(home, "config/plugins.lock"),
    looking: { home, config },
    using: { home, config, log: (line: string) => void log.push(line) },
    [Symbol.dispose]: () => temporary[Symbol.dispose](),
  };
}

/** Longer than a file can change and keep its time. */
const A_WHILE_MS = 60_000;

afterEach(() => void vi.useRealTimers());

/** A program that has a file in its memory, and has just written it: its further writes are not seen in the file's times. */
async function mapFile(path: string) {
  const program = `
import mmap, sys
with open(sys.argv[1], 'r+b') as file:
    memory = mmap.mmap(file.fileno(), 0)
memory[0:1] = memory[0:1]
print('mapped', flush=True)
for line in sys.stdin:
    memory[:] = line.rstrip('\\n').encode()
    print('written', flush=True)
`;
  const child = spawn("python3", ["-c", program, path], { stdio: ["pipe", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return {
    async write(text: string) {
      child.stdin.write(`${text}\n`);
      await once(child.stdout, "data");
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

test("a plugin is pinned when it is first used, and used as long as it stays the same", async () => {
  using given = homeWithPlugins();
  const { plugins, problems } = await trustedPlugins([given.a, given.b], given.using);
  expect(plugins.map(({ folder }) => folder)).toEqual([given.a, given.b]);
  expect(problems).toEqual([]);
  expect(given.log).toEqual([
    expect.stringMatching(/^Pinned the plugin plugins\/a as it is now: sha256 [0-9a-f]{64}\.$/),
    expect.stringMatching(/^Pinned the plugin plugins\/b /),
  ]);
  expect([...(await readPins(given.home)).keys()]).toEqual(["plugins/a", "plugins/b"]);
  await trustedPlugins([given.a, given.b], given.using);
  expect(given.log).toHaveLength(2);
});

test("reading alone pins nothing", async () => {
  using given = homeWithPlugins();
  expect((await trustedPlugins([given.a], given.looking)).plugins).toHaveLength(1);
  expect(await readPins(given.home)).toEqual(new Map());
});

test("a changed plugin is not used, the changed files are named, and the owner's pin accepts it", async () => {
  using given = homeWithPlugins();
  await trustedPlugins([given.a, given.b], given.using);
  given.write("plugins/b/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: y\n---\n");
  given.write("plugins/b/bin/new", "");
  const { plugins, problems, lostGuards } = await trustedPlugins([given.a, given.b], given.using);
  expect(plugins.map(({ folder }) => folder)).toEqual([given.a]);
  expect(problems).toEqual([
    {
      path: given.b,
      problem: "The plugin plugins/b changed after it was pinned: added bin/new; changed skills/pdf/SKILL.md",
      hint: "Restore it, or read the changes and run `cortex plugins pin plugins/b`.",
      isLeftOut: true,
    },
  ]);
  expect(lostGuards).toEqual([]);

  const { hash } = await statePin(given.b, given.looking);
  await pinPlugin(given.b, hash, { home: given.home, by: "owner", nowMs: NOW_MS });
  expect((await trustedPlugins([given.b], given.looking)).problems).toEqual([]);
  expect((await readPins(given.home)).get("plugins/b")).toMatchObject({
    by: "owner",
    pinnedAt: "2026-01-01T00:00:00.000Z",
    sha256: hash.sha256,
  });
});

test("calls wait for a plugin that had hooks, even if the hooks are what is gone", async () => {
  using given = homeWithPlugins();
  await trustedPlugins([given.a], given.using);
  rmSync(join(given.a, "hooks"), { recursive: true });
  const { lostGuards } = await trustedPlugins([given.a], given.using);
  expect(lostGuards).toMatchObject([
    { code: "plugin_unpinned", message: expect.stringContaining("removed hooks/hooks.json") },
  ]);
});

test.each<readonly [string, (folder: string) => void]>([
  ["whose folder is gone", (folder) => rmSync(folder, { recursive: true })],
  [
    "whose folder is a file by now",
    (folder) => (rmSync(folder, { recursive: true }), writeFileSync(folder, "")),
  ],
])("calls wait for a plugin with hooks %s", async (_, change) => {
  using given = homeWithPlugins();
  await trustedPlugins([given.a, given.b], given.using);
  for (const folder of [given.a, given.b]) change(folder);
  const { problems, lostGuards } = await trustedPlugins([given.a, given.b], given.using);
  expect(lostGuards).toMatchObject([
    {
      code: "plugin_unpinned",
      message: "The plugin plugins/a is pinned, and its folder is missing",
      hint: "Restore it, or remove it from pluginDirs.",
    },
  ]);
  expect(problems.map(({ path }) => path)).toEqual([given.a]); // an empty one is reported with its skills
});

test.each(["hooks", ".claude-plugin"])("calls wait for a plugin whose %s is a link", async (name) => {
  using given = homeWithPlugins();
  renameSync(join(given.a, name), join(given.a, "real"));
  symlinkSync("real", join(given.a, name));
  await trustedPlugins([given.a], given.using);
  given.write("plugins/a/README.md", "changed");
  expect((await trustedPlugins([given.a], given.using)).lostGuards).toHaveLength(1);
});

test.each(["__proto__", "constructor", "prototype"])("a plugin called %s is refused", async (name) => {
  using given = homeWithPlugins();
  given.write(`${name}/SKILL.md`, "---\nname: x\ndescription: x\n---\n");
  const folder = join(given.home, name);
  const { plugins, problems, lostGuards } = await trustedPlugins([folder], given.using);
  expect([plugins, lostGuards.length]).toEqual([[], 1]);
  expect(problems).toMatchObject([
    { problem: `Refusing to use the plugin ${name}: its name is reserved`, hint: "Rename the folder." },
  ]);
});

test.each(["plugins/a/.git", "plugins/c/.git"])(
  "%s holds no skill, because its content is not pinned",
  async (folder) => {
    using given = homeWithPlugins();
    given.write("plugins/c/README.md", "");
    symlinkSync(".", join(given.a, "skills"));
    given.write(`${folder}/SKILL.md`, "---\nname: x\ndescription: x\n---\n");
    const { plugins } = await trustedPlugins([given.a, join(given.home, "plugins/c")], given.using);
    expect(plugins).toHaveLength(2);
    expect(plugins.flatMap(({ skillFolders }) => skillFolders)).not.toContainEqual(
      expect.stringMatching(/\.git$/),
    );
  },
);

test("right before a program runs, a change is found", async () => {
  using given = homeWithPlugins();
  await trustedPlugins([given.a], given.using);
  expect(await whyNotTrusted(given.a, given.using)).toBeUndefined();
  given.write("plugins/a/check.sh", "exit 0");
  expect(await whyNotTrusted(given.a, given.using)).toMatchObject({ code: "plugin_unpinned" });
});

test("right before a program runs, files are read even if their status is the same", async () => {
  using given = homeWithPlugins();
  given.write("plugins/a/check.sh", "exit 0");
  await trustedPlugins([given.a], given.using);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + A_WHILE_MS });
  using mapped = await mapFile(join(given.a, "check.sh"));
  await trustedPlugins([given.a], given.using);
  await mapped.write("exit 1");
  expect(await whyNotTrusted(given.a, given.using)).toMatchObject({
    message: expect.stringContaining("changed check.sh"),
  });
});

test.each([
  ["an agent's workspace", { agents: { main: { workspace: "plugins" } } }, "agents.main.workspace"],
  ["a workspace inside of it", { agents: { main: { workspace: "plugins/a/x" } } }, "agents.main.workspace"],
  [
    "a folder that a persona may use",
    { personas: { atlas: { permissions: { roots: ["plugins"] } } } },
    "personas.atlas.permissions.roots",
  ],
  [
    "a watched folder",
    { channels: { files: { inbox: { folder: "plugins" } } } },
    "channels.files.inbox.folder",
  ],
])("a plugin in %s is not pinned by itself, only by the owner", async (_, cortex, setting) => {
  using given = homeWithPlugins(cortex);
  const { plugins, problems, lostGuards } = await trustedPlugins([given.a], given.using);
  expect(plugins).toEqual([]);
  expect(problems[0]!.problem).toContain(
    `The plugin plugins/a is not pinned, and agents can write to it: ${setting}`,
  );
  expect(lostGuards).toHaveLength(1);
  expect(await readPins(given.home)).toEqual(new Map());
  const { hash } = await statePin(given.a, given.looking);
  await pinPlugin(given.a, hash, { home: given.home, by: "owner", nowMs: NOW_MS });
  expect((await trustedPlugins([given.a], given.using)).plugins).toHaveLength(1);
});

test("neither is one that a link hides in a workspace, nor one among the files of agents", async () => {
  using given = homeWithPlugins({ agents: { main: { workspace: "work" } } });
  given.write("work/tools/SKILL.md", "---\nname: tools\ndescription: x\n---\n");
  given.write("tmp/output/SKILL.md", "---\nname: output\ndescription: x\n---\n");
  symlinkSync(join(given.home, "work/tools"), join(given.home, "plugins/linked"));
  const folders = ["plugins/linked", "tmp/output"].map((name) => join(given.home, name));
  const { plugins, problems } = await trustedPlugins(folders, given.using);
  expect(plugins).toEqual([]);
  expect(problems.map(({ problem }) => problem)).toEqual([
    expect.stringContaining("agents.main.workspace"),
    expect.stringContaining("the home's tmp"),
  ]);
});

test("a plugin that has no hash is not used, and calls wait for it", async () => {
  using given = homeWithPlugins();
  symlinkSync("/etc/hostname", join(given.a, "link"));
  const { plugins, problems, lostGuards } = await trustedPlugins([given.a], given.using);
  expect(plugins).toEqual([]);
  expect(problems[0]!.problem).toContain("link is a symbolic link out of the folder");
  expect(lostGuards).toHaveLength(1);
});

test.each([
  ["not JSON", "{"],
  ["of another version", '{"version":2,"plugins":{}}'],
  [
    "edited by hand",
    '{"version":1,"plugins":{"plugins/a":{"sha256":"00","pinnedAt":"","by":"owner","files":[]}}}',
  ],
  ["too long", " ".repeat(MAX_LOCK_LENGTH + 1)],
])("with a lock file that is %s, no plugin is used and it stays as it is", async (_, text) => {
  using given = homeWithPlugins();
  given.write("config/plugins.lock", text);
  const { plugins, problems, lostGuards } = await trustedPlugins([given.a], given.using);
  expect([plugins, lostGuards.length]).toEqual([[], 1]);
  expect(problems[0]!.problem).toContain(`Invalid ${given.lock}`);
  expect(readFileSync(given.lock, "utf8")).toBe(text);
});

test("a listing that is not what its hash says is refused", async () => {
  using given = homeWithPlugins();
  await trustedPlugins([given.a], given.using);
  const text = readFileSync(given.lock, "utf8");
  given.write("config/plugins.lock", text.replace("hooks/hooks.json", "hooks/h.json"));
  await expect(readPins(given.home)).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining("the files of plugins/a do not have its hash"),
  });
});

test("pins of several plugins at once are all kept, in order", async () => {
  using given = homeWithPlugins();
  const { hash } = await statePin(given.a, given.looking);
  const names = Array.from({ length: 8 }, (_, at) => `plugins/p${at}`);
  const pins = names.map((name) =>
    pinPlugin(join(given.home, name), hash, { home: given.home, by: "owner", nowMs: NOW_MS }),
  );
  await Promise.all(pins);
  expect([...(await readPins(given.home)).keys()]).toEqual(names);
});

test("no more than the limit of plugins are loaded, also if some of them are refused", async () => {
  using given = homeWithPlugins({ agents: { main: { workspace: "work" } } });
  given.write("work/x/SKILL.md", "---\nname: x\ndescription: x\n---\n");
  const many = Array.from({ length: MAX_PLUGINS - 1 }, (_, at) => join(given.home, `none${at}`));
  const { plugins, problems } = await trustedPlugins(
    [join(given.home, "work/x"), ...many, given.b],
    given.using,
  );
  expect(plugins.map(({ folder }) => folder)).not.toContain(given.b);
  expect(problems[0]!.problem).toBe(`more than ${MAX_PLUGINS} plugins; the rest is ignored`);
});

test("of each kind of change a few files are named", () => {
  const added = Array.from({ length: MAX_NAMED_FILES + 3 }, (_, at) => `f${at}`);
  expect(describeChanges({ added, changed: [], removed: ["x"] })).toBe(
    "added f0, f1, f2, f3, f4 and 3 more; removed x",
  );
});
