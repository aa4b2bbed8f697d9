/** Several hooks that fire on one event: one turn that knows what all of them say, however slow one of them is. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import type { EventId } from "../src/model/ids.ts";
import { promptText } from "../src/model/message.ts";
import { MAIN_SESSION } from "../src/model/session-key.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { explain } from "../src/insight/why.ts";
import { DONE, openTestCortex, testTool, writeHome } from "./support/home.ts";
import { judged } from "./support/judged.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

/** A hook that fires with a prompt at once, or as soon as a file of its name is in the home. */
function hook(prompt: string, { waits = false, session = "main", more = "" } = {}): string {
  const wait = `while (!existsSync(new URL("../go", import.meta.url))) await new Promise((go) => setTimeout(go, 5));`;
  return `import { existsSync } from "node:fs";
export const filter = { channels: ["telegram", "http"] };
export default async () => {
  ${waits ? wait : ""}
  return { fire: true, routing: { session: "${session}" }, context: { prompt: "${prompt}" }${more} };
};`;
}

const letGo = ({ home }: Cortex): void => writeFileSync(join(home, "go"), "");
const PAIRED = { channels: { paired: [{ channel: "telegram", sender: "ada" }] } };
/** So long that only an answer can end it. */
const PATIENTLY = { ...PAIRED, hooks: { gatherMs: 60_000 } };

async function write(cortex: Cortex, content = "hello"): Promise<EventId> {
  const message = {
    adapter: "telegram",
    sourceId: content,
    channel: "telegram",
    sender: "ada",
    place: "ada",
  };
  return (await cortex.accept({ ...message, content, timestampMs: Date.now() })).event;
}

/** What the model was told in each turn of a session, oldest first, and nothing of what it said. */
async function told({ store }: Cortex, session = MAIN_SESSION): Promise<string[][]> {
  const head = (await store.sessions.get(session))?.head;
  const thread = head === undefined ? [] : await store.turns.thread(head, { limit: 10 });
  const turns = await Promise.all(thread.toReversed().map(({ id }) => store.turns.read(id)));
  return turns.map((turn) => turn!.messages.filter(({ role }) => role === "user").map(promptText));
}

const outcomes = async ({ store }: Cortex, event: EventId): Promise<string[]> =>
  (await store.events.dispatches(event)).map(({ hook: name, outcome }) => `${name} ${outcome}`).toSorted();

test("what a slow hook says reaches the model in the same turn as what a fast one says", async () => {
  const hooks = { "b-fast.ts": hook("be quick"), "a-slow.ts": hook("be kind", { waits: true }) };
  await using cortex = await openTestCortex({ cortex: PATIENTLY, hooks });
  const event = await write(cortex);
  await expect.poll(() => outcomes(cortex, event), PATIENT).toEqual(["b-fast queued"]);
  letGo(cortex);
  await judged(cortex, event);
  await expect.poll(() => told(cortex), PATIENT).toHaveLength(1);
  expect((await told(cortex))[0]![0]).toMatch(/be kind[\s\S]*be quick[\s\S]*hello/);
  expect(await outcomes(cortex, event)).toEqual(["a-slow joined", "b-fast queued"]);
});

test("a turn waits no longer than told for a hook that does not answer, which then makes one late turn after it", async () => {
  const hooks = { "b-fast.ts": hook("be quick"), "a-slow.ts": hook("be kind", { waits: true }) };
  await using cortex = await openTestCortex({ cortex: { ...PAIRED, hooks: { gatherMs: 1 } }, hooks });
  const event = await write(cortex);
  await expect.poll(() => told(cortex), PATIENT).toEqual([[expect.stringContaining("be quick")]]);
  letGo(cortex);
  await judged(cortex, event);
  await expect.poll(() => told(cortex), PATIENT).toHaveLength(2);
  const [, second] = await told(cortex);
  expect(second).toEqual([expect.stringMatching(/be kind[\s\S]*Late.*a-slow.*hello/)]);
  expect(await outcomes(cortex, event)).toEqual(["a-slow late", "b-fast queued"]);
  const { items, turns } = await explain(cortex.store, event);
  expect(items.map(({ state }) => state)).toEqual(["done", "done"]);
  expect(turns).toHaveLength(2);
  // Whoever asks about the late turn is told of the message that it is about.
  expect(await explain(cortex.store, turns[1]!.id)).toMatchObject({ event: { id: event } });
});

test("what a hook says while the turn of its event is at work is steered into it", async () => {
  const script = `
- when: hello
  plays:
    - calls: [{ tool: Wait, args: {} }]
    - say: done
- { when: .*, plays: [{ say: other }] }`;
  const hooks = { "b-fast.ts": hook("be quick"), "a-slow.ts": hook("be kind", { waits: true }) };
  const free = { ...PAIRED, hooks: { gatherMs: 1 }, personas: { atlas: { permissions: { ask: [] } } } };
  let cortex: Cortex | undefined;
  const wait = testTool("Wait", async () => {
    letGo(cortex!);
    const isLate = async (): Promise<boolean> =>
      (await cortex!.store.events.list({ channel: "telegram", direction: "sent" })).items.some(
        ({ metadata }) => (metadata as { late?: boolean } | undefined)?.late === true,
      );
    await expect.poll(isLate, PATIENT).toBe(true);
    return DONE;
  });
  await using opened = await openTestCortex({ cortex: free, script, hooks }, { tools: [wait] });
  cortex = opened;
  const event = await write(cortex);
  await judged(cortex, event);
  await expect.poll(() => told(opened), PATIENT).toHaveLength(1);
  expect(await told(cortex)).toEqual([
    [expect.stringContaining("be quick"), expect.stringMatching(/be kind[\s\S]*Late/)],
  ]);
  const { items } = await explain(cortex.store, event);
  expect(items.map(({ state }) => state)).toEqual(["done", "merged"]);
});

test("a hook adds its context to a message that was sent with a target", async () => {
  const hooks = { "slow.ts": hook("be kind", { waits: true }) };
  await using cortex = await openTestCortex({ cortex: PATIENTLY, hooks });
  const { event, item } = await cortex.send({ content: "hello" });
  letGo(cortex);
  await cortex.outcome(item, AbortSignal.timeout(60_000));
  expect(await told(cortex)).toEqual([[expect.stringMatching(/be kind[\s\S]*hello/)]]);
  expect(await outcomes(cortex, event)).toEqual(["direct queued", "slow joined"]);
});

test("the first hook by name says how the turn is queued and a crash in between loses and doubles nothing", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  const collects = `export const filter = { channels: ["telegram"] };
export default async () => ({ fire: true, routing: { session: "main", queue_mode: "queue" }, context: { prompt: "first" } });`;
  const counted = `import { appendFileSync } from "node:fs";
${hook("be quick").replace("export default async () => {", 'export default async () => { appendFileSync(new URL("../asked", import.meta.url), "x");')}`;
  writeHome(home, {
    cortex: PATIENTLY,
    hooks: { "b-fast.ts": counted, "a-first.ts": collects, "c-slow.ts": hook("be kind", { waits: true }) },
  });
  let event: EventId;
  {
    await using cortex = await openTestCortex({}, { home });
    event = await write(cortex);
    await expect.poll(() => outcomes(cortex, event), PATIENT).toHaveLength(2);
    const { items } = await cortex.store.queue.list();
    expect(items).toMatchObject([{ mode: "queue" }]);
  }
  writeFileSync(join(home, "go"), "");
  await using cortex = await openTestCortex({}, { home });
  await judged(cortex, event);
  await expect.poll(() => told(cortex), PATIENT).not.toEqual([]);
  await expect.poll(() => cortex.store.counts(), PATIENT).toMatchObject({ queued: 0, running: 0 });
  const all = (await told(cortex)).flat().join("\n");
  for (const prompt of ["first", "be quick", "be kind"]) expect(all.split(prompt)).toHaveLength(2);
  expect(existsSync(join(home, "asked")) && readFileSync(join(home, "asked"), "utf8")).toBe("x");
});

const EXCLUSIVE = hook("work", { session: "agent:main:cron:work", more: ", exclusive: true" });
const WORK = "agent:main:cron:work" as typeof MAIN_SESSION;

test.each([
  ["whenever they answer", { "default-dm.ts": hook("default"), "work.ts": EXCLUSIVE }],
  ["also later", { "default-dm.ts": hook("default", { waits: true }), "work.ts": EXCLUSIVE }],
])("an exclusive hook silences the default hooks of its event, %s", async (_, hooks) => {
  await using cortex = await openTestCortex({ cortex: PATIENTLY, hooks });
  const event = await write(cortex);
  await expect.poll(() => outcomes(cortex, event), PATIENT).toContain("work queued");
  letGo(cortex);
  await judged(cortex, event);
  await expect.poll(() => told(cortex, WORK), PATIENT).toHaveLength(1);
  await expect.poll(() => cortex.store.counts(), PATIENT).toMatchObject({ turns: 1, queued: 0, running: 0 });
  expect(await told(cortex)).toEqual([]);
});

test("an exclusive hook takes back what a default hook has asked for while it waits", async () => {
  const exclusive = hook("work", { waits: true, session: WORK, more: ", exclusive: true" });
  const hooks = { "default-dm.ts": hook("default"), "work.ts": exclusive, "other.ts": hook("other") };
  await using cortex = await openTestCortex({ cortex: PATIENTLY, hooks });
  const event = await write(cortex);
  await expect.poll(() => outcomes(cortex, event), PATIENT).toHaveLength(2);
  letGo(cortex);
  await judged(cortex, event);
  expect(await outcomes(cortex, event)).toContain("default-dm silenced");
  // Another hook that is no default one keeps its say, without what was silenced.
  await expect.poll(() => told(cortex), PATIENT).toHaveLength(1);
  expect((await told(cortex))[0]![0]).toMatch(/other/);
  expect((await told(cortex))[0]![0]).not.toMatch(/default/);
});

test("an exclusive hook that comes after the turn of a default one leaves it, and why says so", async () => {
  const exclusive = hook("work", { waits: true, session: WORK, more: ", exclusive: true" });
  const hooks = { "default-dm.ts": hook("default"), "work.ts": exclusive };
  await using cortex = await openTestCortex({ cortex: { ...PAIRED, hooks: { gatherMs: 1 } }, hooks });
  const event = await write(cortex);
  await expect.poll(() => told(cortex), PATIENT).toHaveLength(1);
  letGo(cortex);
  await judged(cortex, event);
  await expect.poll(() => told(cortex, WORK), PATIENT).toHaveLength(1);
  expect((await explain(cortex.store, event)).hooks).toMatchObject([
    { hook: "default-dm", fired: true, exclusive: false },
    { hook: "work", fired: true, exclusive: true },
  ]);
});

/** A hook that comes with Cortex, enabled. */
function shipped(name: string): string {
  const source = readFileSync(new URL(`../hooks/${name}.ts`, import.meta.url), "utf8");
  return source.replace(" * @starts disabled\n", "");
}

test("mom-2fa-helper has its say beside default-dm-routing, whichever of them is slow", async () => {
  const verdict = JSON.stringify(JSON.stringify({ is_2fa: true, service: "Bank", confidence: 0.9 }));
  const script = `
- { when: "Is this message about a login code", plays: [{ say: ${verdict} }] }
- { when: .*, plays: [{ say: ok }] }`;
  const names = ["default-dm-routing", "mom-2fa-helper"];
  const hooks = Object.fromEntries(names.map((name) => [`${name}.ts`, shipped(name)]));
  const mom = { channel: "sms", sender: "+15550101" };
  await using cortex = await openTestCortex({ cortex: { channels: { paired: [mom] } }, script, hooks });
  const message = { adapter: "sms", sourceId: "1", ...mom, place: mom.sender, content: "what is my code?" };
  const { event } = await cortex.accept({ ...message, timestampMs: Date.now() });
  await judged(cortex, event);
  await expect.poll(() => cortex.store.counts(), PATIENT).toMatchObject({ queued: 0, running: 0 });
  const all = (await told(cortex)).flat().join("\n");
  expect(all.split("Never ask for the code itself")).toHaveLength(2);
});

test("work-whatsapp-routing beside default-dm-routing gives one answer", async () => {
  const names = ["default-dm-routing", "work-whatsapp-routing"];
  const hooks = Object.fromEntries(names.map((name) => [`${name}.ts`, shipped(name)]));
  const colleague = { channel: "whatsapp", sender: "+15550100" };
  const patiently = { agents: { work: {} }, channels: { paired: [colleague] }, hooks: { gatherMs: 60_000 } };
  await using cortex = await openTestCortex({ cortex: patiently, hooks });
  const message = {
    adapter: "whatsapp",
    sourceId: "1",
    ...colleague,
    place: colleague.sender,
    content: "hi",
  };
  const { event } = await cortex.accept({ ...message, timestampMs: Date.now() });
  await judged(cortex, event);
  await expect.poll(() => cortex.store.counts(), PATIENT).toMatchObject({ turns: 1, queued: 0, running: 0 });
  const key = "agent:work:whatsapp:dm:+15550100" as typeof MAIN_SESSION;
  expect(await told(cortex, key)).toHaveLength(1);
});
