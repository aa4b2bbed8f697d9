// What a chat channel costs: the time of a message, memory, and the rendering of hostile text.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { type FakeTelegram, startTelegram } from "../../test/support/fake-telegram.ts";
import { type Report, under } from "../goal.ts";
import { median, percentile } from "../percentile.ts";
import { runProgram } from "../run-program.ts";
import { buildCortex } from "../server/build.ts";
import { Client } from "../server/client.ts";
import { sharedNowMs } from "../server/clock.ts";
import { makeHome, type RunningCortex, startCortex } from "../server/start-cortex.ts";
import { type Model, startModel } from "../server/start-model.ts";
import { familyUsage } from "../server/usage.ts";
import { table } from "../table.ts";

const WARM_UP = 50;
const MESSAGES = 300;
const PEOPLE = 20;
const ROUNDS = 3;
/** Longer than a message takes: the poll waits, as it does with Telegram. */
const POLL_MS = 20_000;
const GOAL_MS = 15;
const GOAL_MB = 25;
const GOAL_RENDER_MS = 100;
const MAX_MS = 300_000;
const SETTLE_MS = 2_000;
const HOOK = `export default ({ event }) => ({ fire: event.channel === "telegram" && event.content_type === "text" });\n`;

export async function benchChannels(): Promise<Report> {
  const program = await buildCortex();
  const times = await timesOfMessages(program);
  const memory: { readonly none: number; readonly telegram: number }[] = [];
  for (let round = 0; round < ROUNDS; round++)
    memory.push({ none: await memoryOf(program, "none"), telegram: await memoryOf(program, "telegram") });
  const rendered = await renderAll();
  const [none, telegram] = [
    median(memory.map((each) => each.none)),
    median(memory.map((each) => each.telegram)),
  ];
  const worst = rendered.toSorted((a, b) => b.ms - a.ms)[0]!;
  const [p50Ms, postMs] = [percentile(times.telegram, 50), percentile(times.post, 50)];
  return {
    text: [
      table(
        ["message → model request", "p50 ms", "p99 ms"],
        [
          ["Telegram", p50Ms, percentile(times.telegram, 99)],
          ["POST /api/messages", postMs, percentile(times.post, 99)],
        ],
      ),
      table(
        ["server that has answered a message", "resident MB"],
        [
          ["no chat channel", none],
          ["Telegram connected", telegram],
        ],
      ),
      table(
        ["100 KB of", "platform", "parsed and rendered, ms"],
        rendered.map(({ kind, platform, ms }) => [kind, platform, ms]),
      ),
    ].join("\n"),
    goals: [
      under({
        what: "Telegram message → model request, p50",
        value: p50Ms,
        limit: GOAL_MS,
        unit: "ms",
        beside: `the same by POST: ${postMs.toFixed(1)} ms`,
      }),
      under({
        what: "memory of an open Telegram channel with the Markdown parser",
        value: telegram - none,
        limit: GOAL_MB,
        unit: "MB",
        beside: `no chat channel: ${Math.round(none)} MB in all`,
      }),
      under({
        what: "100 KB of hostile Markdown rendered, the slowest",
        value: worst.ms,
        limit: GOAL_RENDER_MS,
        unit: "ms",
        beside: `${worst.kind}, ${worst.platform}`,
      }),
    ],
  };
}

interface Times {
  readonly telegram: readonly number[];
  readonly post: readonly number[];
}

/** On Telegram and by HTTP, in turns: what else the machine does then slows both. */
async function timesOfMessages(program: string): Promise<Times> {
  await using model = await startModel();
  await using telegram = await startTelegram({ pollMs: POLL_MS });
  await using cortex = await startWith(program, model, telegram);
  using client = new Client({ ...cortex, connections: 1 });
  const saidAtMs: number[] = [];
  for (let n = 0; n < 2 * (WARM_UP + MESSAGES); n++) {
    const content = `message mark-${n}`;
    if (n % 2 === 1) {
      saidAtMs.push(sharedNowMs());
      await client.post("/api/messages", { content, session: `bench-${n % PEOPLE}`, wait: true });
      continue;
    }
    const sent = telegram.sent.length;
    await waitFor(() => telegram.waitingPolls > 0);
    saidAtMs.push(sharedNowMs());
    telegram.say(content, { from: { id: 42 + ((n / 2) % PEOPLE), is_bot: false, first_name: "Ada" } });
    await waitFor(() => telegram.sent.length > sent);
  }
  const asked = await model.take();
  const times = saidAtMs.map((atMs, n) => asked.get(`mark-${n}`)! - atMs).slice(2 * WARM_UP);
  return { telegram: times.filter((_, n) => n % 2 === 0), post: times.filter((_, n) => n % 2 === 1) };
}

async function memoryOf(program: string, channel: "none" | "telegram"): Promise<number> {
  await using model = await startModel();
  await using telegram = await startTelegram({ pollMs: POLL_MS });
  await using cortex = await startWith(program, model, channel === "none" ? undefined : telegram);
  if (channel === "telegram") {
    telegram.say("message mark-0");
    await waitFor(() => telegram.sent.length > 0);
  } else {
    using client = new Client({ ...cortex, connections: 1 });
    await client.post("/api/messages", { content: "message mark-0", wait: true });
  }
  await pause(SETTLE_MS);
  return familyUsage(cortex.pid)!.residentMb;
}

function startWith(
  program: string,
  model: Model,
  telegram: FakeTelegram | undefined,
): Promise<RunningCortex> {
  const home = makeHome(model.port);
  mkdirSync(join(home, "hooks"));
  writeFileSync(join(home, "hooks", "chat.mjs"), HOOK);
  const paired = Array.from({ length: PEOPLE }, (_, n) => ({ channel: "telegram", sender: String(42 + n) }));
  const channels =
    telegram === undefined ? {} : { telegram: { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url }, paired };
  const people = { limits: { perMinute: 1_000_000, pending: 1_000, usdPerDay: 1_000 } };
  writeFileSync(join(home, "config", "cortex.json"), JSON.stringify({ channels, people }));
  writeFileSync(join(home, "config", ".env"), `BOT_TOKEN=${telegram?.token ?? "none"}\n`, { mode: 0o600 });
  return startCortex({ program, home });
}

async function waitFor(holds: () => boolean): Promise<void> {
  const untilMs = performance.now() + MAX_MS;
  while (!holds()) {
    if (performance.now() > untilMs) throw new Error("What the benchmark waits for did not come");
    await pause(1);
  }
}

interface Rendered {
  readonly kind: string;
  readonly platform: string;
  readonly ms: number;
}

function renderAll(): Promise<readonly Rendered[]> {
  const script = join(import.meta.dirname, "render.ts");
  return runProgram({ script, args: [], capMs: MAX_MS }, (line): line is Rendered =>
    Object.hasOwn(line as object, "ms"),
  );
}
