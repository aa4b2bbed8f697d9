/** The server under the messages of a paired stranger: the owner's own work is neither dropped nor kept waiting. */
import { expect, test } from "vitest";

import { openTestServer, PATIENT } from "./support/server.ts";

const FLOOD = 60;

test("60 messages of a stranger drop none of the owner's, and are bounded by name, with one notice", async () => {
  await using server = await openTestServer({
    cortex: {
      channels: { paired: [{ channel: "telegram", sender: "ada" }] },
      people: { limits: { perMinute: 5 } },
    },
    hooks: { "fires.ts": `export default () => ({ fire: true, routing: { session: "work" } });` },
  });
  const post = (path: string, json: unknown) => server.send({ method: "POST", path, json });
  const flood = Array.from({ length: FLOOD }, (_, place) =>
    post("/api/events", {
      adapter: "telegram",
      sourceId: `${place}`,
      channel: "telegram",
      sender: "ada",
      place: "dm-ada",
      content: `hello ${place}`,
    }),
  );
  const sent = await post("/api/messages", { content: "mine", session: "work" });
  expect(sent.status).toBe(202);
  await Promise.all(flood);
  const { store } = server.cortex;
  const ofStranger = "from queue_items where event_id glob 'telegram:*'";
  const judged = `select count(*) as n ${ofStranger}`;
  await expect.poll(() => store.query(judged), PATIENT).toEqual([{ n: FLOOD }]);
  const dropped = await store.query(
    `select policy, count(*) as n ${ofStranger} and status = 'dropped' group by policy`,
  );
  expect(dropped).toEqual([{ policy: "person-rate", n: expect.any(Number) }]);
  expect(dropped[0]!["n"]).toBeGreaterThan(FLOOD / 2); // a busy machine takes its time, and the bucket fills
  const owners =
    "select i.status from queue_items i join events e on e.id = i.event_id where e.content = 'mine'";
  await expect.poll(() => store.query(owners), PATIENT).toEqual([{ status: "done" }]);
  const { items } = await store.outbox.list();
  expect(items.filter(({ content }) => content?.startsWith("Not taken:"))).toHaveLength(1);
});
