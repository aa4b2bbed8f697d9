import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROFILES, type RelayHome, relayHome } from "../../../test/support/relay-home.ts";
import {
  type RelayConfigListener,
  type RelayConfigWatch,
  type RelayConfigWatchOptions,
  watchRelayConfig,
} from "./watch.ts";

// Long enough that it never happens by itself: what such a test sees is due to what it did.
const NEVER = { debounceMs: 2 ** 30, pollMs: 2 ** 30 };
const FILE = "config/thread-templates.json";
const WRITER = { profile: "offline", persistSession: false, promptTemplate: "file:write.md" };
const HOME = { [FILE]: { agents: { writer: WRITER } }, "prompts/promptTemplates/write.md": "one" };

interface Watched extends AsyncDisposable {
  readonly watch: RelayConfigWatch;
  readonly told: string[];
  prompt(): string | undefined;
}

async function open(home: RelayHome, given: Partial<RelayConfigWatchOptions> = {}): Promise<Watched> {
  const told: string[] = [];
  const listener = {
    onChange: () => void told.push("change"),
    onProblems: (problems: readonly { path: string }[]) =>
      void told.push(problems.map(({ path }) => path).join(" ")),
  };
  const context = () => ({ profiles: PROFILES });
  const watch = await watchRelayConfig({ folders: home.folders, context, listener, ...NEVER, ...given });
  return {
    watch,
    told,
    prompt: () => watch.current.agents.get("writer")?.promptTemplate,
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

/** Files are written in several steps, and a check may come between them. */
function untilPromptIs(text: string) {
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  const onChange: RelayConfigListener["onChange"] = ({ agents }, files) => {
    if (agents.get("writer")?.promptTemplate === text) resolve(files);
  };
  return { listener: { onChange, onProblems: () => undefined }, promise };
}

test("a change of a template or of a prompt becomes the current configuration", async () => {
  using home = relayHome(HOME);
  await using watched = await open(home);
  home.write("prompts/promptTemplates/write.md", "two");
  await watched.watch.check();
  expect(watched.prompt()).toBe("two");
  home.write(FILE, { agents: { writer: { ...WRITER, promptTemplate: "three" } } });
  await watched.watch.check();
  expect(watched.prompt()).toBe("three");
  expect(watched.told).toEqual(["change", "change"]);
});

test("an invalid change is told once and leaves the last good configuration", async () => {
  using home = relayHome(HOME);
  await using watched = await open(home);
  rmSync(join(home.folders.home, "prompts/promptTemplates/write.md"));
  await watched.watch.check();
  await watched.watch.check();
  expect(watched.prompt()).toBe("one");
  expect(watched.told).toEqual(["agents.writer.promptTemplate"]);
  expect(watched.watch.current.problems).toMatchObject([{ path: "agents.writer.promptTemplate" }]);

  home.write(FILE, "{");
  await watched.watch.check();
  expect(watched.prompt()).toBe("one");
  home.write(FILE, { agents: { writer: { ...WRITER, promptTemplate: "two" } } });
  await watched.watch.check();
  expect(watched.prompt()).toBe("two");
  expect(watched.told).toEqual(["agents.writer.promptTemplate", "", "change"]);
});

test("what is as it was is not news", async () => {
  using home = relayHome(HOME);
  await using watched = await open(home);
  home.write("prompts/promptTemplates/write.md", "one");
  home.write("config/other.json", "{}");
  await watched.watch.check();
  expect(watched.told).toEqual([]);
});

test("where the files are wrong to begin with, what is right of them is there", async () => {
  using home = relayHome({ ...HOME, [FILE]: { agents: { writer: WRITER, a: {}, b: {} } } });
  await using watched = await open(home);
  expect(watched.prompt()).toBe("one");
  expect(watched.told).toEqual([
    "agents.a.profile agents.a.persistSession agents.b.profile agents.b.persistSession",
  ]);
  home.write(FILE, { agents: { writer: { ...WRITER, promptTemplate: "two" }, a: {} } });
  await watched.watch.check();
  expect(watched.prompt()).toBe("two");
  expect(watched.told.at(-1)).toBe("agents.a.profile agents.a.persistSession");
});

test("a profile that is gone makes its agents wrong, and the last good configuration stays", async () => {
  using home = relayHome(HOME);
  const profiles = [...PROFILES];
  await using watched = await open(home, { context: () => ({ profiles }) });
  profiles.splice(0);
  await watched.watch.check();
  expect(watched.told).toEqual(["agents.writer.profile"]);
  expect(watched.prompt()).toBe("one");
});

test.each([
  ["the file", FILE, { agents: { writer: { ...WRITER, promptTemplate: "two" } } }],
  ["a prompt", "prompts/promptTemplates/write.md", "two"],
  ["a prompt in a folder", "prompts/promptTemplates/deep/er/write.md", "two"],
])("the system tells of a change of %s", async (_, path, content) => {
  const deep = { agents: { writer: { ...WRITER, promptTemplate: "file:deep/er/write.md" } } };
  const isDeep = path.includes("deep");
  using home = relayHome({ ...HOME, ...(isDeep ? { [FILE]: deep, [path]: "one" } : {}) });
  const { listener, promise } = untilPromptIs("two");
  await using watched = await open(home, { listener, debounceMs: 1 });
  home.write(path, content);
  home.write("config/other.json", "{}");
  expect(await promise).toEqual([path]);
  expect(watched.prompt()).toBe("two");
});

test("the poll finds what the system does not tell", async () => {
  using home = relayHome(HOME);
  const { listener, promise } = untilPromptIs("two");
  await using watched = await open(home, { listener, pollMs: 1 });
  home.write("prompts/promptTemplates/write.md", "two");
  await promise;
  expect(watched.prompt()).toBe("two");
});
