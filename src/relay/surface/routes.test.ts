import { expect, test } from "vitest";

import { openTestServer, PATIENT, type TestServer } from "../../../test/support/server.ts";
import { hashToken, mintToken } from "../../model/token.ts";
import { ended, SMALL_RELAYS, SMALL_SCRIPT } from "../../../test/support/small-relays.ts";

const open = (): Promise<TestServer> => openTestServer({ relays: SMALL_RELAYS, script: SMALL_SCRIPT });
const post = (server: TestServer, path: string, json?: unknown) =>
  server.send({ method: "POST", path, ...(json === undefined ? {} : { json }) });

async function start(server: TestServer, fields: object): Promise<{ id: string }> {
  const { status, json } = await post(server, "/api/relays", { message: "a letter", ...fields });
  expect(status).toBe(201);
  return json as { id: string };
}

test("a relay is started, goes on by itself, and is shown as its record", async () => {
  await using server = await open();
  const metadata = { project: "letters" };
  const begun = await start(server, { template: "pair", metadata });
  expect(begun).toMatchObject({
    id: expect.stringMatching(/^thr_[0-9a-f]{8}$/),
    templateName: "pair",
    status: "running",
    userMessage: "a letter",
    metadata,
    stopReason: null,
  });
  await ended(server.cortex, begun);

  const { json } = await server.send(`/api/relays/${begun.id}`);
  expect(json).toMatchObject({
    status: "completed",
    stopReason: "no_matching_transition",
    currentStepIndex: 2,
    channel: "http",
    steps: [
      { stepIndex: 0, agentSlotId: "writer", output: "I wrote a letter", status: "completed" },
      { stepIndex: 1, agentSlotId: "reader", output: "I read a letter", executionId: expect.any(String) },
    ],
  });
  for (const hidden of ["phase", "leg", "active", "ending"]) expect(json).not.toHaveProperty(hidden);
  const artifact = await server.send(`/api/relays/${begun.id}/artifact`);
  expect(artifact.json).toEqual({ id: begun.id, step: null, content: "written: a letter" });
  const after = await server.send(`/api/relays/${begun.id}/artifact?step=1`);
  expect(after.json).toEqual({ id: begun.id, step: 1, content: "written: a letter" });
});

test("relays are listed, newest first, and those that run by themselves", async () => {
  await using server = await open();
  const first = await start(server, { template: "pair" });
  await ended(server.cortex, first);
  const second = await start(server, { name: "writer", message: "slow" });
  const ids = async (query: string) =>
    (await server.send(`/api/relays${query}`)).json.items.map(({ id }: { id: string }) => id);
  expect(await ids("")).toEqual([second.id, first.id]);
  expect(await ids("?running=1")).toEqual([second.id]);
  const { json: page } = await server.send("/api/relays?limit=1");
  expect(await ids(`?limit=1&cursor=${page.next}`)).toEqual([first.id]);
});

test("the same key is the same relay", async () => {
  await using server = await open();
  const [one, two] = await Promise.all([
    start(server, { template: "pair", idempotencyKey: "k" }),
    start(server, { template: "pair", idempotencyKey: "k" }),
  ]);
  expect(two.id).toBe(one.id);
  const other = await post(server, "/api/relays", {
    template: "pair",
    message: "other",
    idempotencyKey: "k",
  });
  expect([other.status, other.json.error.code]).toEqual([409, "idempotency_conflict"]);
});

test("a relay is cancelled once, and resumed from where it was", async () => {
  await using server = await open();
  const { id } = await start(server, { template: "pair", message: "slow" });
  await expect.poll(async () => (await server.send(`/api/relays/${id}`)).json.steps.length, PATIENT).toBe(1);
  expect(await post(server, `/api/relays/${id}/cancel`)).toMatchObject({
    status: 200,
    json: { id, cancelled: true },
  });
  expect(await ended(server.cortex, { id })).toMatchObject({ status: "cancelled", stopReason: "cancelled" });
  expect(await post(server, `/api/relays/${id}/cancel`)).toMatchObject({
    status: 409,
    json: { error: { code: "state_conflict" } },
  });
  expect(await post(server, `/api/relays/${id}/resume`)).toMatchObject({
    status: 202,
    json: { id, status: "running" },
  });
  expect((await post(server, `/api/relays/${id}/cancel`)).status).toBe(200);
});

test("an agent is added to a relay that is over, and to a turn, and not to a relay that runs", async () => {
  await using server = await open();
  const { id } = await start(server, { agent: "writer" });
  await ended(server.cortex, { id });
  const added = await post(server, `/api/relays/${id}/add`, { agent: "reader", message: "a poem" });
  expect(added).toMatchObject({ status: 202, json: { id, status: "running", activeAgent: "reader" } });
  expect((await ended(server.cortex, { id })).steps.at(-1)).toMatchObject({ output: "I read a letter" });

  const message = { method: "POST", path: "/api/messages", json: { content: "hello", wait: true } };
  const { turnId } = (await server.send(message)).json;
  expect((await server.send(`/api/relays/${turnId}`)).json).toMatchObject({
    id: turnId, // nothing else would find it
    templateName: "default",
    status: "completed",
    workspacePath: "",
    userMessage: "hello",
    steps: [{ executionId: turnId }],
  });
  const grown = await post(server, `/api/relays/${turnId}/add`, { agent: "reader", message: "it" });
  expect(grown).toMatchObject({ status: 202, json: { id: expect.stringMatching(/^thr_/) } });
  expect((await ended(server.cortex, grown.json)).steps).toMatchObject([
    { executionId: turnId },
    { input: expect.stringMatching(/User replies \(1 buffered\):\n\nit$/), output: "I read hello" },
  ]);

  expect((await server.send(`/api/relays/${turnId}`)).json.id).toBe(grown.json.id);

  const running = await start(server, { agent: "writer", message: "slow" });
  expect(await post(server, `/api/relays/${running.id}/add`, { agent: "reader" })).toMatchObject({
    status: 409,
    json: { error: { code: "state_conflict", message: expect.stringContaining("running") } },
  });
});

test("messages wait for the next step, and those that are too many are counted", async () => {
  await using server = await open();
  const { id } = await start(server, { template: "pair", message: "slow" });
  const say = async (content: string) => (await post(server, `/api/relays/${id}/messages`, { content })).json;
  expect(await say("faster")).toEqual({ id, answered: null, buffered: 1, dropped: 0 });
  for (let count = 2; count <= 10; count++) await say("faster");
  expect(await say("now")).toEqual({ id, answered: null, buffered: 10, dropped: 1 });
});

test("the place that a relay names is told of its start, its steps and its end, with the artifact", async () => {
  await using server = await open();
  const delivery = { channel: "nowhere", place: "ada" };
  await ended(server.cortex, await start(server, { template: "pair", delivery }));
  const { items } = (await server.send("/api/deliveries")).json;
  const told = items.map(({ content }: { content: string }) => content).toReversed();
  expect(items).toContainEqual(expect.objectContaining({ target: expect.objectContaining(delivery) }));
  expect(told.length).toBeGreaterThan(2);
  expect(told.at(-1)).toMatch(/^written: a letter\n\n✅ Thread complete \| 2 steps \| \$0\.0000 \| /);
  for (const content of told.slice(0, -1)) expect(content).not.toContain("I wrote a letter");
});

test("what relays can be started from is listed", async () => {
  await using server = await open();
  expect((await server.send("/api/relay-templates")).json).toMatchObject({
    items: [
      {
        name: "pair",
        description: "One writes, one reads",
        agents: ["writer", "reader"],
        entry: "writer",
        transitions: [{ from: ["writer"], to: ["reader"], condition: { type: "always" } }],
        maxTotalSteps: 4,
        maxTotalCostUsd: null,
        hooks: [],
        convergence: [],
      },
    ],
    next: null,
  });
  const { items } = (await server.send("/api/relay-agents")).json;
  expect(items).toMatchObject([{ name: "writer", stages: [], tools: null }, { name: "reader" }]);
});

test("a dry run tells the way and keeps nothing", async () => {
  await using server = await open();
  const { status, json } = await post(server, "/api/relays", {
    template: "pair",
    message: "x",
    dryRun: true,
  });
  expect([status, json.stopReason, json.template]).toEqual([200, "no_matching_transition", "pair"]);
  expect(json.steps).toMatchObject([{ agent: "writer" }, { agent: "reader" }]);
  expect((await server.send("/api/relays")).json.items).toEqual([]);
});

test("an answer is recorded with the token that sent it, and its key is for no other answer", async () => {
  const plays = `[{ calls: [{ tool: AskUser, args: { question: "Which colour?" } }] }, { say: done, delayMs: 600000 }]`;
  await using server = await openTestServer({
    relays: SMALL_RELAYS,
    script: `- { when: "WRITE", plays: ${plays} }\n`,
  });
  const { id } = await start(server, { agent: "writer" });
  const status = async () => (await server.send(`/api/relays/${id}`)).json.status;
  await expect.poll(status, PATIENT).toBe("waiting");
  const { store } = server.cortex;
  const secret = mintToken();
  await store.tokens.create(
    { id: "t", name: "phone", hash: hashToken(secret), can: ["send"] },
    { principal: "owner" },
  );
  const say = (content: string) =>
    server.send({
      method: "POST",
      path: `/api/relays/${id}/messages`,
      json: { content, idempotencyKey: "k" },
      headers: { authorization: `Bearer ${secret}` },
    });
  const first = await say("red");
  expect(first).toMatchObject({ status: 202, json: { answered: expect.any(String), buffered: 0 } });
  const { items } = await store.audit.list();
  expect(items.find(({ kind }) => kind === "question.answer")).toMatchObject({ detail: { token: "phone" } });
  expect(await say("red")).toMatchObject({ status: 202, json: first.json });
  expect(await say("blue")).toMatchObject({ status: 409, json: { error: { code: "idempotency_conflict" } } });
});

test.each<[string, object]>([
  ["pendingMessages", { pendingMessages: 5 }],
  ["droppedMessages", { project: "letters", droppedMessages: "a" }],
  ["profileOverride", { profileOverride: "nothing" }],
  ["depth", { depth: -9 }],
  ["call", { call: "x" }],
  ["contract", { contract: {} }],
])("metadata with the reserved field %s starts no relay", async (field, metadata) => {
  await using server = await open();
  const { status, json } = await post(server, "/api/relays", { agent: "writer", message: "slow", metadata });
  expect([status, json.error.code]).toEqual([400, "request_invalid"]);
  expect(json.error.message + json.error.hint).toContain(field);
  expect((await server.send("/api/relays")).json.items).toEqual([]);
});

test("what cannot be is refused, and says why", async () => {
  await using server = await open();
  const refused = async (path: string, json?: unknown, method = "POST") => {
    const answer = await server.send({ method, path, ...(json === undefined ? {} : { json }) });
    return [answer.status, answer.json.error.code];
  };
  const message = "a letter";
  expect(await refused("/api/relays", { message })).toEqual([400, "request_invalid"]);
  expect(await refused("/api/relays", { template: "pair", agent: "writer", message })).toEqual([
    400,
    "request_invalid",
  ]);
  expect(await refused("/api/relays", { template: "pair", message: "" })).toEqual([400, "request_invalid"]);
  expect(await refused("/api/relays", { template: "pair", message, budgetUsd: 0 })).toEqual([
    400,
    "request_invalid",
  ]);
  expect(await refused("/api/relays", { template: "nope", message })).toEqual([404, "template_unknown"]);
  expect(await refused("/api/relays", { template: "writer", message })).toEqual([404, "template_unknown"]);
  expect(await refused("/api/relays", { template: "pair", message, profile: "nope" })).toEqual([
    400,
    "profile_unknown",
  ]);
  for (const dir of ["here", "/nowhere/at/all", process.execPath])
    expect(await refused("/api/relays", { template: "pair", message, dir })).toEqual([
      400,
      "request_invalid",
    ]);
  const unknown = [404, "relay_unknown"];
  for (const verb of ["cancel", "resume"])
    expect(await refused(`/api/relays/thr_00000000/${verb}`)).toEqual(unknown);
  expect(await refused("/api/relays/thr_00000000/add", { agent: "reader" })).toEqual(unknown);
  expect(await refused("/api/relays/thr_00000000/messages", { content: "hi" })).toEqual(unknown);
  for (const path of ["", "/artifact"])
    expect(await refused(`/api/relays/thr_00000000${path}`, undefined, "GET")).toEqual(unknown);
  const { id } = await start(server, { agent: "reader" });
  await ended(server.cortex, { id });
  expect(await refused(`/api/relays/${id}/artifact?step=7`, undefined, "GET")).toEqual([
    409,
    "state_conflict",
  ]);
  expect(await refused(`/api/relays/${id}/add`, { agent: "nobody" })).toEqual([404, "agent_unknown"]);
  expect(await refused(`/api/relays/${id}/resume`)).toEqual([409, "state_conflict"]);
  expect(await post(server, `/api/relays/${id}/messages`, { content: "hi" })).toMatchObject({
    status: 409,
    json: { error: { message: `Relay ${id} is completed and accepts no more messages` } },
  });
});

test("whoever reads along is told of a relay, and of those of one session where only that is asked for", async () => {
  await using server = await open();
  const from = await server.cortex.store.changes.last();
  const said = await server.cortex.say({ content: "!thread pair a letter", session: "post" });
  if (said.kind !== "command") throw new Error("It was taken for a message");
  const id = /thr_[0-9a-f]{8}/.exec(said.reply)![0];
  await ended(server.cortex, { id });
  await ended(server.cortex, await start(server, { template: "pair" }));

  const read = async (query: string): Promise<{ relayId: string }[]> => {
    const stop = new AbortController();
    const response = await fetch(`${server.server.url}/api/stream?lastEventId=${from}${query}`, {
      headers: { authorization: `Bearer ${server.token}` },
      signal: stop.signal,
    });
    await server.cortex.say({ content: "/new", session: "post" });
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (/relay\.changed[^]*"state":"completed"[^]*\n\n/.test(text)) break;
    }
    stop.abort();
    return [...text.matchAll(/^event: relay\.changed\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
  };
  const told = await read("&session=post");
  expect(new Set(told.map(({ relayId }) => relayId))).toEqual(new Set([id]));
  expect(told.at(-1)).toMatchObject({
    type: "relay.changed",
    template: "pair",
    state: "completed",
    session: "post",
    step: 2,
    agent: "reader",
    stage: null,
    stopReason: "no_matching_transition",
  });
  expect((await read("")).length).toBeGreaterThan(0);
});

test("the sessions of a relay that is over are closed, and not in the list unless all are asked for", async () => {
  await using server = await open();
  const keys = async (query = "") =>
    (await server.send(`/api/sessions${query}`)).json.items.map(({ key }: { key: string }) => key);
  const message = { method: "POST", path: "/api/messages", json: { content: "hello", wait: true } };
  await server.send(message);
  const { id } = await start(server, { template: "pair" });
  await ended(server.cortex, { id });
  const writer = `thr:${id}:writer:0`;
  const reader = `thr:${id}:reader:1`;
  expect(await keys()).toEqual(["agent:main:main"]);
  expect(await keys("?tree=1")).toEqual(["agent:main:main"]);
  expect((await keys("?all=1")).toSorted()).toEqual(["agent:main:main", reader, writer]);
  expect((await keys("?all=1&tree=1")).toSorted()).toEqual(["agent:main:main", reader, writer]);
  const shown = await server.send(`/api/sessions/${encodeURIComponent(writer)}`);
  expect(shown.json).toMatchObject({ closed: true, state: "idle" });

  const running = await start(server, { agent: "writer", message: "slow" });
  await expect.poll(() => keys()).toContain(`thr:${running.id}:writer:0`);
  await post(server, `/api/relays/${running.id}/cancel`); // the server would wait for it
});
