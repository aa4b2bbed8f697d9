/**
 * Lets a server carry out turns of every kind that holds memory for a while (answers that are streamed to somebody, calls
 * with large results, turns that are aborted), and prints what is in use after collection, early and in the end.
 */
import { setImmediate } from "node:timers/promises";

import type { SessionKey } from "../../src/model/session-key.ts";
import { DONE, testTool } from "../support/home.ts";
import { openTestServer } from "../support/server.ts";

const [warmUp, turns] = process.argv.slice(2).map(Number) as [number, number];
/** At the same time, in sessions of their own. */
const AT_ONCE = 16;
const NEVER = new AbortController().signal;
const LARGE = "A large result. ".repeat(4_096);

const holding = new Map<string, () => void>();
const tools = [
  testTool("Large", async () => ({ kind: "done", result: { text: LARGE } })),
  testTool("Hold", async (_, { session, signal }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => resolve());
    holding.get(session)?.();
    await promise;
    return DONE;
  }),
];
for (const tool of tools) tool.calls.push = () => 0; // what the test's own tools remember would be growth

const script = JSON.stringify([
  { when: "large", plays: [{ calls: [{ tool: "Large" }] }, { say: "It was large." }] },
  { when: "hold", plays: [{ calls: [{ tool: "Hold" }] }] },
  { when: ".*", plays: [{ say: "Some words of a long answer. ".repeat(100) }] },
]);
await using served = await openTestServer({ script }, { tools });
const { cortex, server, token } = served;

async function ask(content: string, session: string): Promise<void> {
  const { item } = await cortex.send({ content, session });
  await cortex.outcome(item, NEVER);
}

/** Follows a session over HTTP until its turn is over, and goes away. */
async function askAndFollow(session: string): Promise<void> {
  const leaving = new AbortController();
  const url = `http://127.0.0.1:${server.port}/api/stream?session=${encodeURIComponent(session)}`;
  const headers = { authorization: `Bearer ${token}` };
  const { body } = await fetch(url, { headers, signal: leaving.signal });
  const asked = ask("stream", session);
  let read = "";
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    read = (read + chunk).slice(-10_000);
    if (read.includes("turn.committed")) break;
  }
  leaving.abort();
  await asked;
}

async function askAndAbort(session: string): Promise<void> {
  const key = session as SessionKey;
  const { promise, resolve } = Promise.withResolvers<void>();
  holding.set(key, resolve);
  const asked = ask("hold", session);
  await promise;
  holding.delete(key);
  await cortex.abort(key);
  await asked;
}

const KINDS = [
  (session: string) => ask("plain", session),
  (session: string) => ask("large", session),
  askAndFollow,
  askAndAbort,
];

let done = 0;
async function work(until: number): Promise<void> {
  while (done < until) {
    const round = Math.floor(done / AT_ONCE / 8); // each session has a few turns, and then others come
    const asking = Array.from({ length: AT_ONCE }, (_, at) =>
      KINDS[(at + done) % KINDS.length]!(`${round}-${at}`),
    );
    await Promise.all(asking);
    done += AT_ONCE;
  }
}

/** What is still in use when everything that can be collected has been. */
async function bytesInUse(): Promise<number> {
  for (let time = 0; time < 5; time++) {
    await setImmediate();
    globalThis.gc!();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

await work(warmUp);
const early = await bytesInUse();
await work(warmUp + turns);
const late = await bytesInUse();
const { turns: committed } = await cortex.store.counts();
console.log(JSON.stringify({ early, late, committed, done }));
