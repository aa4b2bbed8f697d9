// What Cortex adds between a message and the model: from sending a POST to the arrival of the request at the
// model, beside the least server that does the same with one sync.

import { type Goal, type Report, under, written } from "../goal.ts";
import { probeDiskSyncUs } from "../machine.ts";
import { percentile } from "../percentile.ts";
import { table } from "../table.ts";
import { Client } from "./client.ts";
import { sharedNowMs } from "./clock.ts";
import { startBare } from "./start-bare.ts";
import { makeHome, startCortex } from "./start-cortex.ts";
import { type Model, startModel } from "./start-model.ts";

const WARM_UP = 100;
const GOAL_MS = 10;

interface Way {
  readonly name: string;
  readonly messages: number;
  readonly sessions: number;
  readonly senders: number;
}

const WAYS: readonly Way[] = [
  { name: "1 session, up to 200 turns long", messages: 200, sessions: 1, senders: 1 },
  { name: "100 sessions", messages: 300, sessions: 100, senders: 1 },
  { name: "100 sessions, 8 senders", messages: 800, sessions: 100, senders: 8 },
];

export async function benchOverhead(program: string): Promise<Report> {
  await using model = await startModel();
  const home = makeHome(model.port);
  await using cortex = await startCortex({ program, home });
  await using bare = await startBare(home, model.port);
  using toCortex = new Client({ ...cortex, connections: 8 });
  using toBare = new Client({ url: bare.url, token: "none", connections: 8 });
  for (const client of [toCortex, toBare]) {
    await measure(client, model, { name: "warm", messages: WARM_UP, sessions: 10, senders: 2 });
  }
  const rows: (string | number)[][] = [];
  const goals: Goal[] = [];
  for (const way of WAYS) {
    const syncMs = probeDiskSyncUs() / 1_000;
    const ours = await measure(toCortex, model, way);
    const least = await measure(toBare, model, way);
    for (const [who, times] of [
      ["cortex", ours],
      ["bare server, one sync", least],
    ] as const) {
      rows.push([way.name, who, percentile(times, 50), percentile(times, 99), Number(syncMs.toFixed(2))]);
    }
    goals.push(
      under({
        what: `POST → model beyond a bare server, ${way.name}, p50`,
        value: percentile(ours, 50) - percentile(least, 50),
        limit: GOAL_MS,
        unit: "ms",
        beside: `bare server with one sync: ${written(percentile(least, 50), "ms")}`,
      }),
    );
  }
  const headers = ["messages to", "who", "POST → model p50, ms", "p99, ms", "a sync of this disk, ms"];
  return { text: table(headers, rows), goals };
}

let sent = 0;

/** Each sender waits for its answer before it sends the next. */
async function measure(client: Client, model: Model, way: Way): Promise<number[]> {
  const { name, messages, sessions, senders } = way;
  const sentMs = new Map<string, number>();
  let left = messages;
  const send = async (): Promise<void> => {
    while (left-- > 0) {
      const mark = `mark-${sent++}`;
      const session = `bench-${name.replaceAll(/\W+/g, "-")}-${left % sessions}`;
      sentMs.set(mark, sharedNowMs());
      await client.post("/api/messages", { content: mark, session, mode: "followup", wait: true });
    }
  };
  await Promise.all(Array.from({ length: senders }, send));
  const asked = await model.take();
  return [...sentMs].map(([mark, atMs]) => {
    const askedMs = asked.get(mark);
    if (askedMs === undefined) throw new Error(`The model was never asked ${mark}`);
    return askedMs - atMs;
  });
}
