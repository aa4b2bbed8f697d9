// Many sessions at once: whether all are answered, how soon, in what memory, and whether the event loop stays
// free for whoever comes next.

import { setTimeout as sleep } from "node:timers/promises";
import { none, type Report, under, written } from "../goal.ts";
import { table } from "../table.ts";
import { Client } from "./client.ts";
import { sharedNowMs } from "./clock.ts";
import type { LoopDelay } from "./loop-delay.ts";
import { startBare } from "./start-bare.ts";
import { makeHome, startCortex, startWatchedCortex } from "./start-cortex.ts";
import { startModel } from "./start-model.ts";
import { cpuMs, peakMb } from "./usage.ts";

const EACH = 3;
const SOME = 100;
const MANY = 1_000;
const CONNECTIONS = 64;
const LOOK_EVERY_MS = 50;
/** A crowd that is not served by then is not served. */
const CAP_MS = 180_000;

const ALL_GOAL_MS = 3_000;
const PEAK_GOAL_MB = 200;
const LOOP_GOAL_MS = 50;

export async function benchCrowd(program: string): Promise<Report> {
  const bare = await answerSome(undefined);
  const some = await answerSome(program);
  const many = await serveMany(program);
  const text = [
    table(
      [
        `${SOME} sessions × ${EACH} messages, each waited for`,
        "all answered, ms",
        "of bare",
        "CPU ms a message",
        "peak MB",
      ],
      [
        ["bare server, a sync a message", ...someCells(bare, bare)],
        ["cortex, just started", ...someCells(some, bare)],
      ],
    ),
    table(
      [
        `${MANY.toLocaleString("en-US")} sessions × ${EACH} messages`,
        "messages/s",
        "CPU ms a message",
        "loop p50 ms",
        "loop p99 ms",
        "loop max ms",
        "peak MB so far",
      ],
      [
        ["idle", "", "", ...loopCells(many.idleLoop), ""],
        [
          "taken in while the model is silent",
          perSecond(MANY * EACH, many.acceptMs),
          (many.acceptCpuMs / (MANY * EACH)).toFixed(1),
          ...loopCells(many.acceptLoop),
          many.acceptPeakMb?.toFixed(0) ?? "",
        ],
        [
          "answered",
          perSecond(MANY * EACH, many.answerMs),
          (many.answerCpuMs / (MANY * EACH)).toFixed(1),
          ...loopCells(many.answerLoop),
          many.peakMb?.toFixed(0) ?? "",
        ],
      ],
    ),
    `Until the last of ${MANY} sessions had begun its first message, ${many.firstRoundShare.toFixed(2)} of the whole time passed: ${(1 / EACH).toFixed(2)} is a fair turn for everybody, 1 is one session after the other. Until its last message was begun, the luckiest session waited ${(many.leastWaitMs / 1_000).toFixed(1)} s and the unluckiest ${(many.mostWaitMs / 1_000).toFixed(1)} s, ${(many.mostWaitMs / many.leastWaitMs).toFixed(2)}×.\n`,
  ].join("\n");
  return {
    text,
    goals: [
      under({
        what: "100 sessions × 3 messages all answered",
        value: some.ms,
        limit: ALL_GOAL_MS,
        unit: "ms",
        beside: `bare server, a sync a message: ${written(bare.ms, "ms")}`,
      }),
      under({
        what: "peak of memory with 100 sessions × 3 messages",
        value: some.peakMb,
        limit: PEAK_GOAL_MB,
        unit: "MB",
        beside: bare.peakMb === undefined ? "" : `bare server: ${written(bare.peakMb, "MB")}`,
      }),
      none({ what: "unanswered of 1,000 sessions × 3 messages", value: MANY * EACH - many.answered }),
      under({
        what: "delay of the event loop with 1,000 sessions × 3 messages, p99",
        value: Math.max(many.acceptLoop.p99Ms, many.answerLoop.p99Ms),
        limit: LOOP_GOAL_MS,
        unit: "ms",
        beside: `idle: ${written(many.idleLoop.p99Ms, "ms")}`,
      }),
    ],
  };
}

interface SomeAnswered {
  readonly ms: number;
  readonly cpuMs: number | undefined;
  readonly peakMb: number | undefined;
}

/** As 300 clients that each wait for their answer. Without a program: from the least server there can be. */
async function answerSome(program: string | undefined): Promise<SomeAnswered> {
  await using model = await startModel();
  const home = makeHome(model.port);
  await using server =
    program === undefined ? await startBare(home, model.port) : await startCortex({ program, home });
  using client = new Client({ token: "none", ...server, connections: SOME * EACH });
  const startedMs = performance.now();
  const cpuBefore = cpuMs(server.pid) ?? 0;
  await Promise.all(
    messagesOf(SOME).map(({ content, session }) =>
      client.post("/api/messages", { content, session, mode: "followup", wait: true }),
    ),
  );
  const ms = performance.now() - startedMs;
  const cpuAfter = cpuMs(server.pid);
  return {
    ms,
    cpuMs: cpuAfter === undefined ? undefined : cpuAfter - cpuBefore,
    peakMb: peakMb(server.pid),
  };
}

function someCells({ ms, cpuMs: cpu, peakMb: peak }: SomeAnswered, bare: SomeAnswered): (string | number)[] {
  const each = cpu === undefined ? "" : (cpu / (SOME * EACH)).toFixed(1);
  return [Math.round(ms), `${(ms / bare.ms).toFixed(1)}×`, each, peak?.toFixed(0) ?? ""];
}

/** The model says nothing until all messages are in, so that all sessions have queued work at once. */
async function serveMany(program: string) {
  await using model = await startModel({ held: true });
  await using cortex = await startWatchedCortex({ program, home: makeHome(model.port) });
  using client = new Client({ ...cortex, connections: CONNECTIONS });
  await cortex.loopDelay();
  await sleep(1_000);
  const idleLoop = await cortex.loopDelay();

  const sentMs = performance.now();
  const cpuAtFirst = cpuMs(cortex.pid) ?? 0;
  const messages = messagesOf(MANY);
  await Promise.all(
    messages.map(({ content, session }) =>
      client.post("/api/messages", { content, session, mode: "followup" }),
    ),
  );
  const acceptMs = performance.now() - sentMs;
  const acceptLoop = await cortex.loopDelay();
  const acceptPeakMb = peakMb(cortex.pid);
  const cpuInBetween = cpuMs(cortex.pid) ?? 0;

  const goMs = sharedNowMs();
  model.go();
  const answered = await waitForTurns(client, messages.length);
  const answerMs = sharedNowMs() - goMs;
  const answerCpuMs = (cpuMs(cortex.pid) ?? 0) - cpuInBetween;
  const answerLoop = await cortex.loopDelay();

  const asked = await model.take();
  const waits = [...Map.groupBy(messages, ({ session }) => session).values()].map((own) =>
    own.map(({ content }) => Math.max(0, (asked.get(content) ?? Infinity) - goMs)),
  );
  const firsts = waits.map((each) => Math.min(...each));
  const lasts = waits.map((each) => Math.max(...each));
  return {
    idleLoop,
    acceptMs,
    acceptCpuMs: cpuInBetween - cpuAtFirst,
    acceptLoop,
    acceptPeakMb,
    answered,
    answerMs,
    answerCpuMs,
    answerLoop,
    peakMb: peakMb(cortex.pid),
    firstRoundShare: Math.max(...firsts) / answerMs,
    leastWaitMs: Math.min(...lasts),
    mostWaitMs: Math.max(...lasts),
  };
}

/** In the order in which they are sent: the first of every session, then the second of every session. */
function messagesOf(sessions: number): { content: string; session: string }[] {
  return Array.from({ length: sessions * EACH }, (_, index) => ({
    content: `mark-${index}`,
    session: `crowd-${index % sessions}`,
  }));
}

/** How many turns there are when there are enough, or when it takes too long. */
async function waitForTurns(client: Client, wanted: number): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const { text } = await client.get("/metrics");
    const turns = Number(/^cortex_turns_total (\d+)$/m.exec(text)?.[1]);
    if (turns >= wanted || performance.now() - startedMs > CAP_MS) return turns;
    await sleep(LOOK_EVERY_MS);
  }
}

function perSecond(messages: number, ms: number): number {
  return Math.round((messages * 1_000) / ms);
}

function loopCells({ p50Ms, p99Ms, maxMs }: LoopDelay): number[] {
  return [p50Ms, p99Ms, maxMs].map((ms) => Number(ms.toFixed(1)));
}
