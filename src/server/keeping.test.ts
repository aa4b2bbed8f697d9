import { expect, test } from "vitest";

import { openTestServer } from "../../test/support/server.ts";
import { DAY_MS } from "../model/durations.ts";

test("what was said long ago is forgotten, and says when it was", async () => {
  let nowMs = Date.UTC(2026, 5, 1);
  const clock = (): number => nowMs;
  const script = "- { when: .*, plays: [{ say: hello }] }";
  await using server = await openTestServer({ script }, { clock, serving: { clock } });
  const asked = { content: "a secret", wait: true };
  const { eventId, turnId } = (await server.send({ method: "POST", path: "/api/messages", json: asked }))
    .json;
  expect((await server.send(`/api/turns/${turnId}`)).json).toMatchObject({ text: "hello", prunedAt: null });

  nowMs += 3 * DAY_MS;
  const before = new Date(nowMs - DAY_MS).toISOString();
  const { status, json } = await server.send({ method: "POST", path: "/api/prune", json: { before } });
  expect(status).toBe(200);
  expect(json).toEqual({ before, turns: 1, events: 2, deliveries: 0, approvals: 0, relays: 0 });
  const prunedAt = new Date(nowMs).toISOString();
  expect((await server.send(`/api/turns/${turnId}`)).json).toMatchObject({ text: "", prunedAt });
  const event = (await server.send(`/api/events/${encodeURIComponent(eventId)}`)).json;
  expect(event).toMatchObject({ content: null, prunedAt });

  await server.send({ method: "POST", path: "/api/messages", json: { content: "and now?", wait: true } });
  expect(await server.cortex.store.verify()).toEqual({
    ok: true,
    turns: 2,
    pruned: 1,
    audited: expect.any(Number),
  });
});

test("a moment that is none, or is too near, is refused", async () => {
  await using server = await openTestServer();
  const near = new Date(Date.now() - DAY_MS / 2).toISOString();
  for (const json of [{}, { before: "yesterday" }, { before: near }, { before: near, force: true }]) {
    const { status } = await server.send({ method: "POST", path: "/api/prune", json });
    expect([json, status]).toEqual([json, 400]);
  }
});
