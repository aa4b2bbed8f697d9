/**
 * Messages that keep coming while `cortex up` is killed again and again, on a bad network: each has one turn, in the order of its place, and a
 * second copy of an answer is there only where the channel allows it and the outbox has marked it.
 */
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { Counterpart, SendFault, Where } from "../channels/kit/counterpart.ts";
import { openLedger } from "../client/ledger.ts";
import { ownFile } from "../model/own-files.ts";
import { type ChildProcess, launch } from "../programs/launch.ts";
import { childEnvironment } from "../programs/environment.ts";
import { checkViolations } from "./check-out.ts";
import { eventually, must, Unmet } from "./expect.ts";
import type { Subject } from "./subject.ts";
import { World } from "./world.ts";

export interface KillRound {
  readonly messages: number;
  readonly places: number;
  readonly kills: number;
}

/** From the first answers of a life to its end. */
const LIFE_MS = 200;

export async function checkKills(subject: Subject, { messages, places, kills }: KillRound): Promise<void> {
  const settings = { groups: "all", dmScope: "per-channel-peer" };
  await using world = await World.prepare(subject, { settings, owners: places });
  const { counterpart } = world;
  let said = 0;
  const sayUpTo = (count: number): void => {
    for (; said < count; said++) {
      const place = placeOf(said, places);
      counterpart.say({ ...place, text: `number ${said}` });
    }
  };
  // Platforms without a history only keep what was said in places that they have told about.
  await withServer(world, async () => {
    await eventually(
      "a receiving connection",
      () => counterpart.receivers,
      (receivers) => receivers > 0,
    );
    sayUpTo(places);
    await answered(world, places);
  });
  for (let kill = 0; kill < kills; kill++) {
    const before = numbersSent(world.counterpart).size;
    sayUpTo(places + Math.round(((messages - places) * (kill + 1)) / (kills + 1)));
    makeTrouble(kill, counterpart);
    await withServer(world, async () => {
      await answered(world, Math.min(before + 1, said));
      counterpart.cut();
      await pause(LIFE_MS * ((kill % 4) / 3));
    });
  }
  sayUpTo(messages);
  await withServer(world, () => settled(world, messages), "SIGTERM");
  await checkLedger(world, messages);
  await checkSent(world, { messages, places });
  checkViolations(world);
}

/** The network is bad as well: slow, cut, and with sends of which nobody knows whether they arrived. */
function makeTrouble(kill: number, counterpart: Counterpart): void {
  counterpart.delay(kill % 3 === 0 ? 20 : 0);
  const faults: readonly SendFault[] = [
    { kind: "accept-then-cut" },
    { kind: "rate-limit", pauseMs: 1_000 },
    { kind: "cut" },
  ];
  counterpart.failSends(...faults.slice(kill % 2));
}

/** One in five is a group, in which less is said: platforms allow fewer messages there. */
function placeOf(number: number, places: number): { readonly where: Where; readonly person: number } {
  const place = number % places;
  if (place % 5 !== 4) return { where: { kind: "dm", person: place }, person: place };
  if (Math.floor(number / places) % 4 !== 0) return placeOf(number - 1, places);
  return { where: { kind: "group", group: place }, person: 0 };
}

async function answered(world: World, count: number): Promise<void> {
  await eventually(
    `${count} answers`,
    () => numbersSent(world.counterpart).size,
    (found) => found >= count,
  );
}

/**
 * A send of which nobody knows twice whether it arrived may be given up. However slowly a channel has to send for its
 * platform's rate limits, it gets on.
 */
async function settled({ home }: World, messages: number): Promise<void> {
  await using ledger = await openLedger(home);
  const read = async (): Promise<number> => {
    const { items } = await ledger.outbox.list({ limit: MAX_LISTED });
    return items.filter(({ state }) => state === "sent" || state === "dead").length;
  };
  let before = -1;
  while (before < messages)
    before = await eventually(
      `more than ${before} of ${messages} answers sent or given up`,
      read,
      (now) => now > before,
    );
}

const MAX_LISTED = 1_000;

function numbersSent(counterpart: Counterpart): Set<number> {
  return new Set(counterpart.sent.map(({ text }) => numberIn(text)));
}

function numberIn(text: string): number {
  return Number(/number (\d+)/.exec(text)?.[1] ?? -1);
}

async function checkLedger({ home, name }: World, messages: number): Promise<void> {
  await using ledger = await openLedger(home);
  const turns = await ledger.query(
    `select e.content, e.thread_id from agent_turns t join events e on e.id = t.source_event_id
     where e.channel = ? order by t.id`,
    [name],
    { maxRows: messages * 2 },
  );
  const numbers = turns.map(({ content }) => numberIn(String(content)));
  const missing = Array.from({ length: messages }, (_, n) => n).filter((n) => !numbers.includes(n));
  const twice = numbers.filter((n, at) => numbers.indexOf(n) !== at);
  must("one turn for each message", { missing, twice }, missing.length === 0 && twice.length === 0);
  for (const [place, own] of Map.groupBy(turns, (turn) => turn["thread_id"])) {
    const order = own.map(({ content }) => numberIn(String(content)));
    must(`turns of ${String(place)} in the order of their messages`, order, isRising(order));
  }
}

async function checkSent(
  { home, can, counterpart }: World,
  { messages, places }: Pick<KillRound, "messages" | "places">,
): Promise<void> {
  await using ledger = await openLedger(home);
  const { items } = await ledger.outbox.list({ limit: MAX_LISTED });
  const isOnce = can.find || can.onUncertain === "repeat";
  const sent = numbersSent(counterpart);
  const doubtful = items.filter(
    ({ state, chunks }) => state === "dead" && chunks.some((chunk) => chunk.state === "unknown"),
  );
  const missing = messages - sent.size;
  const mayMiss = isOnce ? 0 : doubtful.length;
  must(`at most ${mayMiss} answers missing, each given up in doubt`, missing, missing <= mayMiss);
  const marked = items.filter(({ chunks }) => chunks.some(({ isRepeat }) => isRepeat)).length;
  const mayRepeat = can.onUncertain === "repeat-once" && !can.find ? marked : 0;
  const second = counterpart.sent.length - sent.size;
  must(`at most ${mayRepeat} second copies, as the outbox has marked`, second, second <= mayRepeat);
  for (let place = 0; place < places; place++) {
    const { place: id } = counterpart.place(placeOf(place, places).where);
    const numbers = counterpart.sent.filter((sent) => sent.place === id).map(({ text }) => numberIn(text));
    const first = numbers.filter((n, at) => numbers.indexOf(n) === at);
    must(`answers in ${id} in the order of their messages`, numbers, isRising(first));
  }
}

function isRising(numbers: readonly number[]): boolean {
  return numbers.every((n, at) => at === 0 || n > numbers[at - 1]!);
}

/** Runs `cortex up` while something is awaited, and ends it. */
async function withServer(
  world: World,
  act: () => Promise<void>,
  signal: "SIGKILL" | "SIGTERM" = "SIGKILL",
): Promise<void> {
  const log = join(world.home, "up.log");
  const output = openSync(log, "a", 0o600);
  const child = startServer(world.home, output);
  closeSync(output);
  const ended = once(child, "exit");
  const died = ended.then(() => {
    throw new Unmet("`cortex up` to run", readFileSync(log, "utf8").slice(-2_000));
  });
  try {
    await Promise.race([act(), died]);
  } finally {
    died.catch(() => {}); // we end it ourselves
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  }
}

function startServer(home: string, output: number): ChildProcess {
  const environment = {
    ...childEnvironment(process.env),
    HOME: home,
    CORTEX_HOME: home,
    ...(process.env["NODE_COMPILE_CACHE"] === undefined
      ? {}
      : { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }),
  };
  const args = [fileURLToPath(ownFile("bin/cortex.js")), "up", "--port", "0"];
  return launch({ file: process.execPath, args, environment }, ["ignore", output, output]);
}
