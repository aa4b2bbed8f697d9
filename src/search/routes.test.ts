import { expect, test } from "vitest";

import { openTestServer } from "../../test/support/server.ts";

test("what was said is found over HTTP, also by whoever asks for odd things", async () => {
  const script = "- { when: .*, plays: [{ say: 'The lighthouse is 40 metres tall.' }] }";
  await using server = await openTestServer({ script });
  const asked = { content: "how tall is the lighthouse?", wait: true };
  const { eventId, turnId } = (await server.send({ method: "POST", path: "/api/messages", json: asked }))
    .json;

  const { status, json } = await server.send("/api/search?q=LIGHTHOUSE");
  expect(status).toBe(200);
  expect(json).toEqual({
    items: expect.arrayContaining([
      expect.objectContaining({ turnId, direction: "sent", text: "The lighthouse is 40 metres tall." }),
      expect.objectContaining({ eventId, turnId: null, channel: "http", direction: "received" }),
    ]),
    next: null,
    unsearched: 0,
  });
  expect((await server.send("/api/search?q=lighthouse&limit=1")).json.items).toHaveLength(1);
  expect((await server.send("/api/search?q=lighthouse&channel=email")).json.items).toEqual([]);
  expect((await server.send("/api/search?q=lighthouse&since=2999-01-01T00:00:00Z")).json.items).toEqual([]);
  expect((await server.send("/api/search?q=lighthouse&until=2999-01-01T00:00:00Z")).json.items).toHaveLength(
    2,
  );
  for (const q of ["", '"', "a AND (", "NEAR(", "*", "%00", "-lighthouse"]) {
    expect([q, (await server.send(`/api/search?q=${encodeURIComponent(q)}`)).status]).toEqual([q, 200]);
  }
});

test("a search without words to look for, or for too much, is refused", async () => {
  await using server = await openTestServer();
  for (const query of ["", "?q=x&limit=101", "?q=x&limit=0", "?q=x&since=yesterday", "?q=x&sort=up"]) {
    expect([query, (await server.send(`/api/search${query}`)).status]).toEqual([query, 400]);
  }
});
