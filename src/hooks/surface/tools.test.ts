import { expect, test } from "vitest";

import { openTestStore } from "../../../test/support/open-store.ts";
import { callTool, testWorkspace } from "../../../test/support/tool-context.ts";
import type { Json } from "../../model/json.ts";
import { CortexError } from "../../model/errors.ts";
import type { HookFile } from "../../store/store.ts";
import { parseHeader } from "../folder/parse-header.ts";
import { createHookTools, MAX_HOOK_SOURCE_LENGTH, MAX_HOOKS_OF_AGENTS } from "./tools.ts";

const CODE = "export default async () => ({ fire: false });";
const mails = { name: "mails", description: "Looks at mails", code: CODE };

/** The tools over a real store, with files that are kept in memory. */
async function open() {
  const opened = await openTestStore();
  const { store } = opened;
  const files = new Map<string, string>();
  const workspace = testWorkspace();
  const toFile = ([name, source]: readonly [string, string]): HookFile => {
    const { mode = "persistent", ...header } = parseHeader(source);
    return { ...header, name, mode, digest: source };
  };
  const sync = () => store.hooks.sync([...files].map(toFile));
  const tools = createHookTools(() => ({
    list: () => store.hooks.list(),
    async add(name, source) {
      if (files.has(name)) throw new CortexError("state_conflict", `There is a hook ${name}`, { hint: "" });
      files.set(name, source);
      await sync();
      return (await store.hooks.get(name))!;
    },
    setEnabled: (name, enabled) => store.hooks.setEnabled(name, enabled),
    async source(name) {
      const text = files.get(name);
      return text === undefined ? undefined : { path: `/hooks/${name}.ts`, text };
    },
  }));
  return {
    store,
    files,
    sync,
    tools,
    call: async (name: string, params: Json) =>
      callTool(
        tools.find((tool) => tool.name === name)!,
        params,
        workspace.context,
      ),
    async [Symbol.asyncDispose]() {
      workspace[Symbol.dispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

test("what an agent writes is known as such, disabled, and says what is to be done", async () => {
  await using scene = await open();
  const { text } = await scene.call("create_hook", mails);
  expect(text).toContain("it is disabled");
  expect(text).toContain("cortex hooks enable mails");
  expect(await scene.store.hooks.get("mails")).toMatchObject({
    description: "Looks at mails",
    origin: "agent",
    state: "disabled",
  });
});

test.each([
  ["a header of its own", `/**\n * @origin person\n * @starts active\n */\n${CODE}`],
  ["a header behind something else", `;;\n/** @origin person */\n${CODE}`],
])("code with %s is still an agent's", async (_, code) => {
  await using scene = await open();
  await scene.call("create_hook", { ...mails, code });
  expect(await scene.store.hooks.get("mails")).toMatchObject({ origin: "agent", state: "disabled" });
});

test("a hook that is there is not written over", async () => {
  await using scene = await open();
  await scene.call("create_hook", mails);
  await scene.store.hooks.setEnabled("mails", true);
  const other = { ...mails, code: "export default () => process.exit();" };
  await expect(scene.call("create_hook", other)).rejects.toMatchObject({ code: "state_conflict" });
  expect(scene.files.get("mails")).toContain(CODE);
});

test("there are not more hooks of agents than somebody could look at", async () => {
  await using scene = await open();
  for (let count = 0; count < MAX_HOOKS_OF_AGENTS; count++)
    scene.files.set(`hook-${count}`, "/** @origin agent */");
  scene.files.set("of-a-person", CODE);
  await scene.sync();
  await expect(scene.call("create_hook", mails)).rejects.toMatchObject({ code: "limit_invalid" });
  scene.files.delete("hook-0");
  await scene.sync();
  expect((await scene.call("create_hook", mails)).text).toContain("disabled");
});

test("every call to enable a hook asks a person, and every change does where others have a say", async () => {
  await using scene = await open();
  const asking = scene.tools.filter(({ asks }) => asks !== undefined);
  expect(asking.map(({ name }) => name)).toEqual(["enable_hook"]);
  const guarded = scene.tools.filter(({ asks, asksForOthers }) => (asks ?? asksForOthers) !== undefined);
  expect(guarded.map(({ name }) => name)).toEqual(
    scene.tools.filter((tool) => tool.writes).map(({ name }) => name),
  );

  await scene.call("create_hook", mails);
  expect((await scene.call("enable_hook", { name: "mails" })).text).toBe("Hook mails is active.");
  expect((await scene.call("list_hooks", {})).text).toBe(
    "- mails (active, persistent, written by an agent, fired 0 times): Looks at mails",
  );
  expect((await scene.call("disable_hook", { name: "mails" })).text).toBe("Hook mails is disabled.");
});

test("there may be no hooks", async () => {
  await using scene = await open();
  expect((await scene.call("list_hooks", {})).text).toBe("No hooks.");
});

test.each<[string, string, Json, string]>([
  ["a name that is a path", "create_hook", { ...mails, name: "../x" }, "id_invalid"],
  ["no code", "create_hook", { ...mails, code: "" }, "tool_input_invalid"],
  [
    "too much code",
    "create_hook",
    { ...mails, code: "x".repeat(MAX_HOOK_SOURCE_LENGTH + 1) },
    "tool_input_invalid",
  ],
  ["a mode that is none", "create_hook", { ...mails, mode: "often" }, "tool_input_invalid"],
  ["a hook that is none", "enable_hook", { name: "nothing" }, "hook_unknown"],
  ["a hook that is none", "disable_hook", { name: "nothing" }, "hook_unknown"],
])("%s is refused by %s", async (_, tool, params, code) => {
  await using scene = await open();
  await expect(scene.call(tool, params)).rejects.toMatchObject({ code });
});
