/** An agent that writes a hook, and the person without whom it does nothing. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { MAIN_SESSION } from "../src/model/session-key.ts";
import { decide } from "../src/intake/approvals.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { judge } from "./support/judged.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

/** Notes that it was run, when it is only loaded. */
const CODE = `
import { writeFileSync } from "node:fs";
writeFileSync(new URL("loaded", import.meta.url), "");
export const filter = { channels: ["door"] };
export default async () => ({ fire: true, routing: { session: "door" } });
`;
const created = { name: "bell", description: "Looks who rings", code: CODE };
const SCRIPT = `
- when: ^write
  plays:
    - calls: [{ tool: create_hook, args: ${JSON.stringify(created)} }]
    - say: written
- when: ^break
  plays:
    - calls: [{ tool: create_hook, args: { name: bell, description: Looks, code: "export default {" } }]
    - calls: [{ tool: create_hook, args: { name: bell, description: Looks, code: "const looks = 1;" } }]
    - say: broken
- when: ^disable
  plays:
    - calls: [{ tool: disable_hook, args: { name: door } }]
    - say: disabled
- when: ^enable
  plays:
    - calls: [{ tool: enable_hook, args: { name: bell } }]
    - say: done
- when: .*
  plays: [{ say: hello }]
`;
const OWNER = { name: "owner", isOwner: true };
/** Whatever the persona may do, and whether there is a sandbox or not. */
const FREE = { sandbox: "off", personas: { atlas: { permissions: { tools: { allow: ["*"] }, ask: [] } } } };

async function tell(cortex: Cortex, content: string): Promise<void> {
  const { item } = await cortex.send({ content });
  await cortex.outcome(item, AbortSignal.timeout(60_000));
}

async function asked({ store }: Cortex) {
  const open = async () => (await store.approvals.list({ state: "open" })).items;
  await expect.poll(open, PATIENT).toHaveLength(1);
  return (await open())[0]!;
}

const RING = { adapter: "door", channel: "door", sender: "ada", content: "ring" };
const ring = (cortex: Cortex) => judge(cortex, RING);

test("a hook of an agent judges nothing until a person has agreed to it", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT, cortex: FREE });
  await tell(cortex, "write a hook");
  expect(await cortex.store.hooks.get("bell")).toMatchObject({ origin: "agent", state: "disabled" });
  expect(readFileSync(join(cortex.home, "hooks", "bell.ts"), "utf8")).toContain("@origin agent");
  expect((await ring(cortex)).runs).toEqual([]);
  await expect(cortex.hooks.test("bell", { ...RING, timestampMs: 0 })).rejects.toMatchObject({
    message: expect.stringContaining("written by an agent"),
  });

  const { item } = await cortex.send({ content: "enable it" });
  const { id, request } = await asked(cortex);
  expect(request).toMatchObject({ tool: "enable_hook", args: { name: "bell" }, reason: expect.any(String) });
  expect(await cortex.store.hooks.get("bell")).toMatchObject({ state: "disabled" });
  expect(existsSync(join(cortex.home, "hooks", "loaded"))).toBe(false);
  await decide(id, { kind: "approve" }, OWNER, cortex.store);
  await cortex.outcome(item, AbortSignal.timeout(60_000));
  expect(await cortex.store.hooks.get("bell")).toMatchObject({ state: "active" });
  expect((await ring(cortex)).runs).toMatchObject([{ hook: "bell", fired: true }]);
});

test("after a no, and after a restart, it is as disabled as before", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  writeHome(home, { script: SCRIPT, cortex: FREE });
  {
    await using cortex = await openTestCortex({}, { home });
    await tell(cortex, "write a hook");
    const { item } = await cortex.send({ content: "enable it" });
    await decide((await asked(cortex)).id, { kind: "deny" }, OWNER, cortex.store);
    await cortex.outcome(item, AbortSignal.timeout(60_000));
    expect(await cortex.store.hooks.get("bell")).toMatchObject({ state: "disabled" });
  }
  await using cortex = await openTestCortex({}, { home });
  expect(await cortex.store.hooks.get("bell")).toMatchObject({ state: "disabled" });
  expect((await ring(cortex)).runs).toEqual([]);
  expect(existsSync(join(home, "hooks", "loaded"))).toBe(false);
});

test("code that cannot be loaded is not kept, and can be mended under the same name", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT, cortex: FREE });
  await tell(cortex, "break something");
  const session = await cortex.store.sessions.get(MAIN_SESSION);
  const { toolCalls } = (await cortex.store.turns.read(session!.head!))!;
  expect(toolCalls.map(({ status, result }) => [status, JSON.stringify(result)])).toEqual([
    ["error", expect.stringMatching(/Cannot load hook bell: /)],
    ["error", expect.stringContaining("No default export")],
  ]);
  expect(readdirSync(join(cortex.home, "hooks"))).not.toContain("bell.ts");

  await tell(cortex, "write it properly");
  expect(await cortex.store.hooks.get("bell")).toMatchObject({ state: "disabled", error: undefined });
});

/** A hook of the owner's, and a stranger whose messages reach the main session. */
const DOOR = `export const filter = { channels: ["telegram"] };
export default async () => ({ fire: true, routing: { session: "main" } });`;
const WITH_STRANGER = {
  script: SCRIPT,
  cortex: { ...FREE, channels: { paired: [{ channel: "telegram", sender: "eve" }] } },
  hooks: { "door.ts": DOOR },
};

test("a paired stranger cannot have a hook disabled or written without a person's yes", async () => {
  await using cortex = await openTestCortex(WITH_STRANGER);
  for (const [content, tool, args] of [
    ["disable it", "disable_hook", { name: "door" }],
    ["write a hook", "create_hook", { name: "bell" }],
  ] as const) {
    const { dispatches } = await judge(cortex, { channel: "telegram", sender: "eve", place: "eve", content });
    const { id, request } = await asked(cortex);
    expect(request).toMatchObject({
      tool,
      args,
      reason: expect.stringContaining("hooks belong to the owner"),
    });
    await decide(id, { kind: "deny" }, OWNER, cortex.store);
    await cortex.outcome(dispatches[0]!.item, AbortSignal.timeout(60_000));
  }
  expect(await cortex.store.hooks.get("door")).toMatchObject({ state: "active" });
  expect(await cortex.store.hooks.get("bell")).toBeUndefined();
});

test("in a conversation of the owner's alone, a hook is disabled unasked", async () => {
  await using cortex = await openTestCortex(WITH_STRANGER);
  await tell(cortex, "disable it");
  expect(await cortex.store.hooks.get("door")).toMatchObject({ state: "disabled" });
});
