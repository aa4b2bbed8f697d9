// Far more messages at once than anybody can answer: what it costs to take them in, whether the event loop stays
// free meanwhile, and whether each of them is accounted for in the end.

import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { none, type Report, under } from "../goal.ts";
import { table } from "../table.ts";
import { buildCortex } from "./build.ts";
import { Client } from "./client.ts";
import type { LoopDelay } from "./loop-delay.ts";
import { makeHome, type RunningCortex, startCortex, startWatchedCortex } from "./start-cortex.ts";
import { startModel } from "./start-model.ts";
import { peakMb } from "./usage.ts";

const MESSAGES = 10_000;
const CONNECTIONS = 50;
const SESSIONS = [1, 1_000];
const LOOK_EVERY_MS = 100;
/** What is not done by then is counted as it is. */
const CAP_MS = 300_000;

const LOOP_GOAL_MS = 50;

export async function benchFlood(): Promise<Report> {
  const program = await buildCortex();
  const load = loadavg()[0]!.toFixed(1);
  const rows: (string | number)[][] = [];
  const loops: LoopDelay[] = [];
  let lost = 0;
  for (const sessions of SESSIONS) {
    // The measure of the event loop takes memory itself, so it has a flood of its own.
    const plain = await flood(sessions, {
      start: (home) => startCortex({ program, home }),
      look: async ({ pid }) => peakMb(pid)?.toFixed(0) ?? "",
    });
    const watched = await flood(sessions, {
      start: (home) => startWatchedCortex({ program, home }),
      look: (cortex) => cortex.loopDelay(),
    });
    lost += plain.lost + watched.lost;
    loops.push(watched.whenTaken, watched.whenSettled);
    rows.push([
      sessions,
      plain.accepted,
      MESSAGES - plain.accepted,
      Math.round((plain.accepted * 1_000) / plain.takenMs),
      plain.whenTaken,
      loopCell(watched.whenTaken),
      plain.answered,
      plain.dropped,
      plain.lost,
      (plain.settledMs / 1_000).toFixed(1),
      plain.whenSettled,
      loopCell(watched.whenSettled),
    ]);
  }
  return {
    text: [`Load of the machine when it began: ${load}.\n`, table(HEADERS, rows)].join("\n"),
    goals: [
      none({ what: "lost of the messages that were accepted, of 10,000 at once", value: lost }),
      under({
        what: "delay of the event loop with 10,000 messages at once, p99",
        value: Math.max(...loops.map(({ p99Ms }) => p99Ms)),
        limit: LOOP_GOAL_MS,
        unit: "ms",
      }),
    ],
  };
}

const HEADERS = [
  "sessions",
  "accepted",
  "refused",
  "accepted/s",
  "peak MB",
  "loop p99 / max ms",
  "answered",
  "dropped",
  "lost",
  "settled after s",
  "peak MB then",
  "loop p99 / max ms then",
];

interface Way<Look> {
  readonly start: (home: string) => Promise<RunningCortex>;
  /** Taken before the first message, when all are taken in, and when all are settled. */
  readonly look: (cortex: RunningCortex) => Promise<Look>;
}

interface Flood<Look> extends Outcomes {
  readonly accepted: number;
  readonly takenMs: number;
  readonly whenTaken: Look;
  readonly settledMs: number;
  readonly whenSettled: Look;
  /** Accepted, and neither in a turn nor recorded as dropped. */
  readonly lost: number;
}

async function flood<Look>(sessions: number, { start, look }: Way<Look>): Promise<Flood<Look>> {
  await using model = await startModel({ held: true });
  const home = makeHome(model.port);
  await using cortex = await start(home);
  using client = new Client({ ...cortex, connections: CONNECTIONS });
  await look(cortex);

  const startedMs = performance.now();
  const accepted = await postAll(client, sessions);
  const takenMs = performance.now() - startedMs;
  const whenTaken = await look(cortex);

  const goMs = performance.now();
  model.go();
  await waitForRest(client);
  const settledMs = performance.now() - goMs;
  const whenSettled = await look(cortex);

  const outcomes = readOutcomes(home);
  const lost = accepted - outcomes.answered - outcomes.dropped;
  return { accepted, takenMs, whenTaken, settledMs, whenSettled, ...outcomes, lost };
}

/** How many were accepted. */
async function postAll(client: Client, sessions: number): Promise<number> {
  const numbers = Array.from({ length: MESSAGES }, (_, i) => i).values();
  let accepted = 0;
  const connection = async (): Promise<void> => {
    for (const i of numbers) {
      const message = { content: `mark-${i}`, session: `flood-${i % sessions}`, mode: "followup" };
      const { status } = await client.tryPost("/api/messages", message);
      if (status < 300) accepted++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return accepted;
}

async function waitForRest(client: Client): Promise<void> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < CAP_MS) {
    const { text } = await client.get("/metrics");
    if (gauge(text, "cortex_queue_items") + gauge(text, 'cortex_runs{state="running"}') === 0) return;
    await sleep(LOOK_EVERY_MS);
  }
}

function gauge(text: string, name: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

interface Outcomes {
  /** Messages that are part of a turn that was committed. */
  readonly answered: number;
  /** Messages of which it is recorded by which policy they were dropped. */
  readonly dropped: number;
}

function readOutcomes(home: string): Outcomes {
  const db = new Database(join(home, "data", "cortex.db"), { readonly: true });
  try {
    const count = (sql: string): number => db.prepare<[], number>(sql).pluck().get()!;
    return {
      answered: count(
        `select count(*) from queue_items i join agent_turns t on t.id = i.turn_id
         where i.status in ('done', 'merged')`,
      ),
      dropped: count("select count(*) from queue_items where status = 'dropped' and policy is not null"),
    };
  } finally {
    db.close();
  }
}

function loopCell({ p99Ms, maxMs }: LoopDelay): string {
  return `${p99Ms.toFixed(1)} / ${maxMs.toFixed(1)}`;
}
