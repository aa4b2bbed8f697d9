import { Agent, request } from "node:http";

import { expect, test } from "vitest";

import { DONE, testTool } from "../../test/support/home.ts";
import { openTestServer, type Received, type TestServer } from "../../test/support/server.ts";

const SCRIPT = `
- { when: ^work, plays: [{ calls: [{ tool: Work }] }, { say: worked }] }
- { when: .*, plays: [{ say: 'You said {{message}}' }] }`;

/** Each round meets the races between runs and messages anew. */
const ROUNDS = 10;

/** A tool that works until its turn is aborted, and says when it has begun. */
function openWork() {
  let begun = Promise.withResolvers<void>();
  const tool = testTool("Work", async (_, { signal }) => {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return DONE;
  });
  return {
    tool,
    isBegun: async (): Promise<void> => {
      await begun.promise;
      begun = Promise.withResolvers();
    },
  };
}

/** Sends requests over one connection, each when the one before it was answered. */
function openConnection({ server, token }: TestServer) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    post: (json: unknown): Promise<Received["json"]> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const options = { port: server.port, path: "/api/messages", method: "POST", headers, agent };
        request(options, (response) => {
          let text = "";
          response
            .setEncoding("utf8")
            .on("data", (chunk: string) => (text += chunk))
            .on("end", () => resolve({ status: response.statusCode, ...JSON.parse(text) }));
        })
          .on("error", reject)
          .end(JSON.stringify(json));
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

test("the second of two messages that interrupt a tool is answered", async () => {
  const { tool, isBegun } = openWork();
  await using server = await openTestServer({ script: SCRIPT }, { tools: [tool] });
  using connection = openConnection(server);
  for (let round = 0; round < ROUNDS; round++) {
    const to = { session: `round-${round}`, mode: "interrupt" };
    await connection.post({ ...to, content: "work" });
    await isBegun();
    void connection.post({ ...to, content: "first", idempotencyKey: `first-${round}` });
    const second = await connection.post({ ...to, content: "second", wait: true });
    expect([second.status, second.text, second.aborted]).toEqual([200, "You said second", undefined]);

    const first = { ...to, content: "first", idempotencyKey: `first-${round}`, wait: true };
    const { text, aborted } = await connection.post(first);
    // It had its answer before the second came, shares it, or was aborted by the second.
    const interrupted = { reason: "interrupted by a newer message", by: second.eventId };
    expect(["You said first", "You said second", interrupted]).toContainEqual(aborted ?? text);
  }
});

test("whoever waits for an answer that is aborted learns that, why and by what", async () => {
  const { tool, isBegun } = openWork();
  await using server = await openTestServer({ script: SCRIPT }, { tools: [tool] });
  const post = (json: object): Promise<Received> =>
    server.send({ method: "POST", path: "/api/messages", json });
  const interrupted = post({ content: "work", wait: true });
  await isBegun();
  const { json: next } = await post({ content: "work more", mode: "interrupt" });
  await isBegun();
  expect((await interrupted).json).toMatchObject({
    text: "",
    aborted: { reason: "interrupted by a newer message", by: next.eventId },
  });

  await server.send({ method: "POST", path: "/api/sessions/main/abort" });
  await expect
    .poll(async () => (await server.send(`/api/events/${encodeURIComponent(next.eventId)}/why`)).json.turns, {
      timeout: 90_000,
    })
    .toMatchObject([
      {
        turn: { status: "aborted" },
        runs: [{ state: "aborted", abort: "the owner asked for it", abortedBy: null }],
      },
    ]);
});
