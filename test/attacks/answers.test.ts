/** What people are told: a secret of one must not reach another through the agent that both talk with. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { PlaceKind } from "../../src/model/event.ts";
import { normalizeSessionKey } from "../../src/model/session-key.ts";
import { readTrust } from "../../src/model/trust.ts";
import { decide } from "../../src/intake/approvals.ts";
import type { Approval } from "../../src/store/store.ts";
import { PATIENT } from "../support/server.ts";
import { call, orderText, type Step } from "./attack.ts";
import { type Ended, waitForEnd } from "./carry-out.ts";
import { openScene, type Scene, type SENDERS, writeBelow } from "./scene.ts";

const OWNER = { name: "owner", isOwner: true };
const EVERYTHING = { hosts: ["*", "127.0.0.1"], channels: ["webhook", "telegram"] };
const own = { agents: { main: {} }, personas: { atlas: { answers: "own", permissions: EVERYTHING } } };
const ask = { agents: { main: {} }, personas: { atlas: { answers: "ask", permissions: EVERYTHING } } };
const READ = call("Read", { path: "private.txt" });
const TELL = "I found: {{seen}}";
const WAITS = "The answer to your message waits for the owner's approval.";
const REFUSED = "The owner did not approve the answer to your message.";

type Sender = keyof typeof SENDERS;

const PLACES: Readonly<Partial<Record<Sender, string>>> = { paired: "7", bob: "8" };

/** Each in their own chat, or all in a room. */
async function say(
  scene: Scene,
  from: Sender,
  steps: readonly Step[] | string,
  { room }: { readonly room?: string } = {},
): Promise<Ended> {
  const content = typeof steps === "string" ? steps : scene.fill(orderText(steps));
  const own = PLACES[from];
  const at: { place?: string; placeKind?: PlaceKind; session: string } =
    room !== undefined
      ? { place: room, placeKind: "group", session: `room-${room}` }
      : own === undefined
        ? { session: "main" }
        : { place: own, placeKind: "dm", session: `of-${from}` };
  return waitForEnd(scene, await scene.send(content, from, at));
}

function told({ telegram }: Scene): string[] {
  return telegram.asked.map(({ address, content }) => `${address.place}: ${content}`);
}

function results({ turn }: Ended): string[] {
  return turn!.toolCalls.map(({ result }) => (result as { text: string }).text);
}

async function openRequest({ served: { cortex } }: Scene): Promise<Approval> {
  const list = async () => (await cortex.store.approvals.list({ state: "open" })).items;
  await expect.poll(list, PATIENT).toHaveLength(1);
  return (await list())[0]!;
}

async function untilTold(scene: Scene, count: number): Promise<string[]> {
  await expect.poll(() => told(scene), PATIENT).toHaveLength(count);
  return told(scene);
}

async function labelOf({ served: { cortex } }: Scene, session: string) {
  return readTrust((await cortex.store.sessions.get(normalizeSessionKey(session)))!.settings);
}

test("an answer that holds what its reader may not know waits for the owner, and is sent once", async () => {
  await using scene = await openScene({ cortex: ask, refuses: false });
  await say(scene, "paired", [[READ], TELL]);
  expect(await untilTold(scene, 1)).toEqual([`7: ${WAITS}`]);
  const request = await openRequest(scene);
  expect(request).toMatchObject({
    kind: "approval",
    request: {
      tool: "answer",
      args: {
        to: { channel: "telegram", place: "7" },
        text: expect.stringContaining(scene.confidences["private"]!),
      },
      reason: expect.stringContaining("private to owner"),
    },
  });

  await scene.restart();
  const { store } = scene.served.cortex;
  await decide(request.id, { kind: "approve" }, OWNER, store);
  await decide(request.id, { kind: "approve" }, OWNER, store);
  const [, answer] = await untilTold(scene, 2);
  expect(answer).toContain(`7: I found:`);
  expect(answer).toContain(scene.confidences["private"]);
  await scene.restart();
  expect((await scene.served.cortex.store.approvals.get(request.id))!.state).toBe("approved");
  expect(told(scene)).toHaveLength(2);
});

test("an answer that the owner denies is not sent, and its reader is told so", async () => {
  await using scene = await openScene({ cortex: ask, refuses: false });
  await say(scene, "paired", [[READ], TELL]);
  const request = await openRequest(scene);
  await decide(request.id, { kind: "deny", reason: "no" }, OWNER, scene.served.cortex.store);
  expect(await untilTold(scene, 2)).toEqual([`7: ${WAITS}`, `7: ${REFUSED}`]);
});

test("only so many answers to one person wait for the owner; further ones are withheld, with the reason", async () => {
  await using scene = await openScene({ cortex: { ...ask, people: { openApprovals: 1 } }, refuses: false });
  await say(scene, "paired", [[READ], TELL]);
  await say(scene, "paired", [[READ], TELL]);
  const [waits, withheld] = await untilTold(scene, 2);
  expect(waits).toBe(`7: ${WAITS}`);
  expect(withheld).toMatch(/^7: The answer to your message is withheld: .*`people\.openApprovals`/);
  await openRequest(scene);
});

test("an approval of an answer is for exactly this text", async () => {
  await using scene = await openScene({ cortex: ask, refuses: false });
  await say(scene, "paired", [[READ], TELL]);
  const { id } = await openRequest(scene);
  const deciding = decide(id, { kind: "approve", digest: "0".repeat(64) }, OWNER, scene.served.cortex.store);
  await expect(deciding).rejects.toMatchObject({ code: "approval_changed" });
  expect(await untilTold(scene, 1)).toEqual([`7: ${WAITS}`]);
});

test("a reply before the end of the turn, and a question, wait as an answer does", async () => {
  await using scene = await openScene({ cortex: ask });
  const reply = call("reply_to_caller", { content: "{{seen}}" });
  const question = call("AskUser", { question: "{{seen}}" });
  const { asked } = await say(scene, "paired", [[READ], [reply], [question], "Done."]);
  expect(asked.map(({ request }) => (request as { tool: string }).tool)).toEqual(
    expect.arrayContaining(["reply_to_caller", "AskUser"]),
  );
  expect(told(scene).join("\n")).not.toContain(scene.confidences["private"]);
});

test("whoever is kept to their own data reads no file of the owner, and gets their answers at once", async () => {
  await using scene = await openScene({ cortex: own });
  writeBelow(join(scene.workspace, "deep", "plan.txt"), `The plan is ${scene.confidences["ledger"]}\n`);
  const calls = [
    READ,
    call("Grep", { pattern: "number" }),
    call("Glob", { pattern: "**/*.txt" }),
    call("List", { depth: 3 }),
    call("Stat", { path: "private.txt" }),
    call("Edit", { path: "private.txt", edits: [{ oldText: "The number is", newText: "The number was" }] }),
    call("Bash", { command: "cat private.txt" }),
  ];
  for (const each of calls) {
    const ended = await say(scene, "paired", [[each], TELL]);
    expect(ended.turn!.toolCalls).toMatchObject([{ tool: each.name, status: "error" }]);
  }
  await untilTold(scene, calls.length);
  const everything = told(scene).join("\n");
  for (const secret of [
    scene.confidences["private"]!,
    scene.confidences["ledger"]!,
    "plan.txt",
    "private.txt\n",
  ])
    expect(everything).not.toContain(secret);
  expect(scene.asked).toEqual([]);
  expect((await labelOf(scene, "of-paired")).private).toEqual(["person:telegram-7"]);
  expect(JSON.stringify(scene.model.requests.map(({ body }) => body))).not.toContain(
    scene.confidences["private"],
  );
});

test("whoever is kept to their own data can use it", async () => {
  await using scene = await openScene({ cortex: own });
  const write = call("Write", { path: "ada.txt", content: "The code is 1234." });
  const edit = call("Edit", { path: "ada.txt", edits: [{ oldText: "1234", newText: "5678" }] });
  const ended = await say(scene, "paired", [[write], [edit], [call("Read", { path: "ada.txt" })], TELL]);
  expect(ended.turn!.toolCalls.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  expect((await untilTold(scene, 1))[0]).toContain("The code is 5678.");
});

test.each([
  ["own", own],
  ["ask", ask],
])("the file of one person is not told to another, nor to a room (%s)", async (_, cortex) => {
  await using scene = await openScene({ cortex, refuses: false });
  const secret = "The code is 1234.";
  await say(scene, "paired", [[call("Write", { path: "ada.txt", content: secret })], "Kept."]);
  await untilTold(scene, 1);
  const read = [[call("Read", { path: "ada.txt" })], TELL];
  await say(scene, "bob", read);
  await say(scene, "bob", read, { room: "-100" });
  await say(scene, "paired", read, { room: "-100" });
  await untilTold(scene, 4);
  expect(told(scene).join("\n")).not.toContain("1234");
});

test("in a room, the owner's files are out of reach for the owner, too", async () => {
  await using scene = await openScene({ cortex: own });
  const inRoom = (place: string) => ({ session: "room", place, placeKind: "group" as const });
  const { cortex } = scene.served;
  await cortex.store.events.accept(
    {
      id: "test:owner-in-room" as never,
      channel: "telegram",
      sender: "1",
      principal: "owner" as never,
      direction: "received",
      content: orderText([[READ], TELL]),
      atMs: Date.now(),
      place: inRoom("-100").place,
      placeKind: "group",
    },
    {
      dispatch: {
        id: "dispatch-owner-in-room" as never,
        item: "item-owner-in-room" as never,
        hook: "direct",
        target: {
          kind: "session",
          session: normalizeSessionKey("room"),
          agent: "main" as never,
          persona: "atlas" as never,
        },
        mode: "followup",
      },
    },
  );
  const ended = await waitForEnd(scene, {
    item: "item-owner-in-room" as never,
    session: normalizeSessionKey("room"),
  });
  expect(results(ended)[0]).toContain("withheld");
  expect((await untilTold(scene, 1))[0]).not.toContain(scene.confidences["private"]);
});

test("what the owner keeps in MEMORY.md and USER.md is not in the prompt of others", async () => {
  await using scene = await openScene({
    cortex: own,
    prepare(home) {
      for (const name of ["MEMORY.md", "USER.md", "AGENTS.md"])
        writeBelow(join(home, "workspaces", "main", name), `Words of ${name}-canary.`);
    },
  });
  await say(scene, "paired", "Hello");
  await say(scene, "owner", "Hello");
  const [others, owners] = scene.model.requests.map(({ body }) => JSON.stringify(body));
  expect(others).toContain("AGENTS.md-canary");
  expect(others).not.toMatch(/(MEMORY|USER)\.md-canary/);
  expect(owners).toMatch(/MEMORY\.md-canary/);
});

test("the owner alone is asked nothing: their answers go out whatever they hold", async () => {
  await using scene = await openScene({ cortex: ask });
  const sent = await scene.send(orderText([[READ], TELL]), "owner", {
    session: "main",
    delivery: { channel: "telegram", place: "1" },
  });
  await waitForEnd(scene, sent);
  expect((await untilTold(scene, 1))[0]).toContain(scene.confidences["private"]);
  expect(scene.asked).toEqual([]);
});

test("long output of the owner's call is not read from another person's session", async () => {
  await using scene = await openScene({ cortex: own });
  scene.attacker.publish("long", "a line of the page\n".repeat(20_000));
  const fetch = call("WebFetch", { url: `${scene.attacker.url}/page/long` });
  const owners = await say(scene, "owner", [[fetch]]);
  const folder = join(scene.home, "tmp", "output", "main");
  const [name] = readdirSync(folder);
  expect(name).toContain(owners.turn!.turn.id);
  const read = [[call("Read", { path: join(folder, name!) })], TELL];
  expect(results(await say(scene, "paired", read))[0]).toContain("withheld");
});

const RECALLING = { ...own, memory: { tokens: 2_000, threshold: 0 } };

test("one who may use no tool gets nothing of other sessions and people by what the ledger remembers", async () => {
  const nothing = { tools: { deny: ["*"] } };
  const paired = [
    { channel: "telegram", sender: "7", permissions: nothing },
    { channel: "telegram", sender: "8" },
  ];
  await using scene = await openScene({ cortex: { ...RECALLING, channels: { paired } } });
  await say(scene, "owner", "The harbour master of Antwerp has the owner-canary.");
  await say(scene, "bob", "The harbour master of Antwerp has the bob-canary.");
  await say(scene, "bob", "The harbour master of Antwerp has the room-canary.", { room: "-100" });
  await say(scene, "paired", "The harbour master of Antwerp has the ada-canary.");
  const before = scene.model.requests.length;
  const { turn } = await say(scene, "paired", "What does the harbour master of Antwerp have?");
  expect(turn!.toolCalls).toEqual([]);
  const asked = JSON.stringify(scene.model.requests.slice(before).map(({ body }) => body));
  expect(asked).toContain("ada-canary");
  expect(asked).not.toMatch(/(owner|bob|room)-canary/);
});

test("in a room, nothing is recalled but what was said in it", async () => {
  await using scene = await openScene({ cortex: RECALLING });
  await say(scene, "owner", "The harbour master of Antwerp has the owner-canary.");
  await say(scene, "paired", "The harbour master of Antwerp has the ada-canary.");
  await say(scene, "paired", "What does the harbour master of Antwerp have?", { room: "-100" });
  const last = JSON.stringify(scene.model.requests.at(-1)!.body);
  expect(last).not.toMatch(/(owner|ada)-canary/);
});

test("a person recalls what they said elsewhere, and the owner only what the owner said", async () => {
  await using scene = await openScene({ cortex: RECALLING });
  await say(scene, "paired", "The harbour master of Antwerp has the ada-canary.");
  await waitForEnd(
    scene,
    await scene.send("What does the harbour master of Antwerp have?", "paired", {
      session: "another",
      place: "7",
      placeKind: "dm",
    }),
  );
  expect(JSON.stringify(scene.model.requests.at(-1)!.body)).toContain("ada-canary");
  await say(scene, "owner", "What does the harbour master of Antwerp have?");
  expect(JSON.stringify(scene.model.requests.at(-1)!.body)).not.toContain("ada-canary");
});

test("memory_search finds for a person what they have heard, and for the owner everything, with its labels", async () => {
  await using scene = await openScene({ cortex: RECALLING });
  await say(scene, "owner", "The harbour master of Antwerp has the owner-canary.");
  await say(scene, "bob", "The harbour master of Antwerp has the bob-canary.");
  const search = [[call("memory_search", { query: "harbour master Antwerp" })], TELL];
  const others = await say(scene, "paired", search);
  expect(results(others)[0]).not.toMatch(/-canary/);
  const owners = await say(scene, "owner", search);
  expect(results(owners)[0]).toMatch(/owner-canary/);
  expect(results(owners)[0]).toMatch(/bob-canary/);
  expect((await labelOf(scene, "main")).untrusted).toContain("person:telegram-8");
  expect((await labelOf(scene, "main")).private).toContain("person:telegram-8");
});
