/** What agents of a relay have read goes with the artifact: to the steps after them, and to whoever gets the result. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { personPrincipal } from "../src/model/principal.ts";
import { MAIN_SESSION, type SessionKey } from "../src/model/session-key.ts";
import { readTrust, TRUST_SETTING, trustJson } from "../src/model/trust.ts";
import { FileLabels } from "../src/personas/file-labels.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { openTestCortex, testTool, writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { ended, SMALL_RELAYS, SMALL_SCRIPT } from "./support/small-relays.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { answerTo, entry, plays } from "./support/workers.ts";

const PAGE = { untrusted: ["tool:Page"], private: [], denied: [] };
const page = testTool("Page", async () => ({ kind: "done", result: { text: "a page", label: PAGE } }), {
  repeatable: true,
  trust: { untrusted: true },
});

const { agents, templates } = SMALL_RELAYS;
const prompt = (text: string) => ({ ...agents.writer, promptTemplate: text });
const RELAYS = {
  agents: {
    ...agents,
    first: prompt("FIRST {{artifactPath}}"),
    second: prompt("SECOND {{artifactPath}}"),
    last: prompt("LAST {{artifactPath}}"),
  },
  templates: {
    ...templates,
    apart: {
      description: "Two side by side",
      agents: ["writer", "first", "second"],
      transitions: [{ from: "writer", to: ["first", "second"], condition: { type: "always" } }],
      entryAgent: "writer",
      maxTotalSteps: 6,
    },
  },
};
const SCRIPT =
  entry(
    "FIRST (\\S+)",
    undefined,
    plays(
      [
        ["Page", {}],
        ["Write", { path: "$1", content: "the page said so" }],
      ],
      "I read a page",
    ),
  ) +
  entry("read it", "main", plays([["Page", {}]], "I read a page")) +
  entry("SECOND", undefined, plays([], "I read nothing")) +
  entry("run it", "main", plays([["relay_start", { template: "apart", message: "a poem" }]], "started")) +
  entry(
    "wait for it",
    "main",
    plays([["relay_start", { template: "apart", message: "a poem", wait: true }]], "has come"),
  ) +
  entry("pass it on", "main", plays([["relay_start", { template: "pair", message: "a poem" }]], "started")) +
  entry("LAST", undefined, plays([], "well")) +
  SMALL_SCRIPT;

async function withRelays(work: (cortex: Cortex, home: string) => Promise<void>): Promise<void> {
  using folder = temporaryFolder();
  writeHome(folder.path, { script: SCRIPT, relays: RELAYS });
  await using cortex = await openTestCortex({}, { home: folder.path, tools: [page] });
  await work(cortex, folder.path);
}

async function untrustedIn({ store }: Cortex, session: SessionKey): Promise<readonly string[]> {
  return readTrust((await store.sessions.get(session))?.settings ?? {}).untrusted;
}

async function relayOf(cortex: Cortex) {
  const [relay] = (await cortex.relays.list()).items;
  return ended(cortex, relay!);
}

test("of steps side by side, each gives its label to whoever started the relay", PATIENT, () =>
  withRelays(async (cortex) => {
    await answerTo(cortex, (await cortex.send({ content: "run it", session: MAIN_SESSION })).item);
    await relayOf(cortex);
    await expect.poll(() => untrustedIn(cortex, MAIN_SESSION), PATIENT).toContain("tool:Page");
  }),
);

test("of steps side by side, each gives its label to the turn that waits", PATIENT, () =>
  withRelays(async (cortex) => {
    const { item } = await cortex.send({ content: "wait for it", session: MAIN_SESSION });
    expect(await answerTo(cortex, item)).toBe("has come");
    expect(await untrustedIn(cortex, MAIN_SESSION)).toContain("tool:Page");
  }),
);

test("the artifact has the labels of all who wrote to it, also of what Cortex put together", PATIENT, () =>
  withRelays(async (cortex, home) => {
    const { id } = await cortex.relays.run({ name: "apart", message: "a poem" });
    const { artifactPath } = await ended(cortex, { id });
    const files = new FileLabels({ labels: cortex.store.labels, home, foreign: [] });
    expect((await files.ofFile(artifactPath)).untrusted).toContain("tool:Page");
    expect((await files.ofFile(join(home, "config", "cortex.json"))).untrusted).toEqual([]);
  }),
);

test("a step that is added later has read what all before it have read", PATIENT, () =>
  withRelays(async (cortex) => {
    const { id } = await cortex.relays.run({ name: "apart", message: "a poem" });
    await ended(cortex, { id });
    for (const agent of ["reader", "last"]) {
      await cortex.relays.add({ id, agent, message: "once more" });
      const { steps } = await ended(cortex, { id });
      expect(await untrustedIn(cortex, steps.at(-1)!.sessionId as SessionKey)).toContain("tool:Page");
    }
  }),
);

test("an agent that is added to a turn has read what the turn had, also after /new", PATIENT, () =>
  withRelays(async (cortex) => {
    await answerTo(cortex, (await cortex.send({ content: "read it", session: MAIN_SESSION })).item);
    const turn = (await cortex.store.sessions.get(MAIN_SESSION))!.head!;
    await cortex.store.sessions.reset(MAIN_SESSION);
    const { id } = await cortex.relays.add({ turn, agent: "last", message: "once more" });
    const { steps } = await ended(cortex, { id });
    expect(await untrustedIn(cortex, steps.at(-1)!.sessionId as SessionKey)).toEqual(["tool:Page"]);
    expect(await untrustedIn(cortex, MAIN_SESSION)).toEqual([]);
  }),
);

test("each step has the label of the session that started the relay, as it was then", PATIENT, () =>
  withRelays(async (cortex) => {
    await answerTo(cortex, (await cortex.send({ content: "LAST words", session: MAIN_SESSION })).item);
    await cortex.store.sessions.configure(MAIN_SESSION, {
      [TRUST_SETTING]: trustJson({ ...PAGE, outward: false }),
    });
    await answerTo(cortex, (await cortex.send({ content: "pass it on", session: MAIN_SESSION })).item);
    const { steps } = await relayOf(cortex);
    for (const { sessionId } of steps)
      expect(await untrustedIn(cortex, sessionId as SessionKey)).toContain("tool:Page");
  }),
);

test("a relay of somebody's words runs on their authority, with their label", PATIENT, () =>
  withRelays(async (cortex) => {
    const ada = personPrincipal("ada");
    const label = { untrusted: [ada], private: [ada], denied: ["Write"] };
    const { id } = await cortex.relays.run({
      name: "pair",
      message: "a poem",
      label,
      principal: ada,
      permissions: { authority: "source" },
    });
    const { steps } = await ended(cortex, { id });
    const { items } = await cortex.store.events.list({ channel: "relay" });
    const orders = items.filter(({ id: event }) => event.startsWith(`relay:${id}:`));
    expect(orders).not.toEqual([]);
    expect(orders.at(-1)).toMatchObject({ principal: ada, label });
    for (const order of orders) expect(order).toMatchObject({ principal: ada, label: { untrusted: [ada] } });
    for (const { executionId } of steps) {
      const turn = await cortex.store.turns.read(executionId as never);
      const writes = turn!.toolCalls.filter(({ tool }) => tool === "Write");
      for (const write of writes) expect(write.status).toBe("error");
    }
    expect(await untrustedIn(cortex, steps[0]!.sessionId as SessionKey)).toEqual([ada]);
  }),
);
