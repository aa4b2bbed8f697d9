/** Where the labels of a session came from, as `cortex why`, `cortex context` and the API show it. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { normalizeSessionKey } from "../src/model/session-key.ts";
import { explain } from "../src/insight/why.ts";
import { call, orderText } from "./attacks/attack.ts";
import { waitForEnd } from "./attacks/carry-out.ts";
import { openScene, writeBelow } from "./attacks/scene.ts";

test("each name in a label is shown with what brought it first, and in the turn that did", async () => {
  await using scene = await openScene();
  const { cortex } = scene.served;
  const session = normalizeSessionKey("work");
  const ofAda = await scene.send("Hello", "paired", { session: "work", place: "7", placeKind: "dm" });
  await waitForEnd(scene, ofAda);
  const reading = orderText([[call("Read", { path: "private.txt" })]]);
  const { turn } = await waitForEnd(scene, await scene.send(reading, "owner", { session: "work" }));
  await waitForEnd(scene, await scene.send(reading, "owner", { session: "work" }));

  const origins = await cortex.store.sessions.labelOrigins(session);
  expect(origins).toMatchObject([
    { kind: "private", origin: { events: [expect.stringMatching(/^test:attack-/)] } },
    { kind: "untrusted", origin: { events: [expect.stringMatching(/^test:attack-/)] } },
    { kind: "private", name: "owner", origin: { turn: turn!.turn.id, tool: "Read", path: "private.txt" } },
  ]);
  const { turns } = await explain(cortex.store, turn!.turn.id);
  expect(turns[0]!.labels).toEqual([
    { label: "private: owner", from: "Read of private.txt", turnId: turn!.turn.id, at: expect.any(String) },
  ]);
  const context = await scene.served.send(`/api/sessions/${encodeURIComponent(session)}/context`);
  expect((context.json as { labels: { from: string }[] }).labels.map(({ from }) => from)).toEqual([
    expect.stringMatching(/^event test:/),
    expect.stringMatching(/^event test:/),
    "Read of private.txt",
  ]);
});

test("a fork has its label from the history, and a cleared name is forgotten until it comes again", async () => {
  await using scene = await openScene();
  const { cortex } = scene.served;
  writeBelow(join(scene.workspace, "note.txt"), "A note.");
  const reading = orderText([[call("Read", { path: "note.txt" })]]);
  const { turn } = await waitForEnd(scene, await scene.send(reading, "owner", { session: "work" }));
  const copy = normalizeSessionKey("copy");
  await cortex.fork(turn!.turn.id, "copy");
  const owner = { kind: "private", name: "owner" };
  expect(await cortex.store.sessions.labelOrigins(copy)).toMatchObject([
    { ...owner, origin: { turn: turn!.turn.id } },
  ]);
  await cortex.store.sessions.configure(copy, { trust: { private: { owner: null } } });
  expect(await cortex.store.sessions.labelOrigins(copy)).toEqual([]);
  await waitForEnd(scene, await scene.send(reading, "owner", { session: "copy" }));
  expect(await cortex.store.sessions.labelOrigins(copy)).toMatchObject([
    { ...owner, origin: { tool: "Read", path: "note.txt" } },
  ]);
});

test("a session that starts afresh has no labels, and none is shown", async () => {
  await using scene = await openScene();
  const { sessions } = scene.served.cortex.store;
  writeBelow(join(scene.workspace, "note.txt"), "A note.");
  const reading = orderText([[call("Read", { path: "note.txt" })]]);
  await waitForEnd(scene, await scene.send(reading, "owner", { session: "work" }));
  const session = normalizeSessionKey("work");
  await sessions.reset(session);
  expect(await sessions.labelOrigins(session)).toEqual([]);
  const { turn } = await waitForEnd(scene, await scene.send(reading, "owner", { session: "work" }));
  expect(await sessions.labelOrigins(session)).toMatchObject([{ origin: { turn: turn!.turn.id } }]);
});

test("each set of a label can be cleared by the owner", async () => {
  await using scene = await openScene();
  await waitForEnd(scene, await scene.send("Hello", "owner", { session: "work" }));
  const trust = { untrusted: { "person:ada": true }, private: { owner: true }, denied: { Bash: true } };
  await scene.served.cortex.store.sessions.configure(normalizeSessionKey("work"), { trust });
  const cleared = { untrusted: false, private: false, denied: false };
  const answer = await scene.served.send({
    method: "PATCH",
    path: "/api/sessions/work",
    json: { trust: cleared },
  });
  expect(answer.json).toMatchObject({ labels: { untrusted: [], private: [], denied: [] } });
});
