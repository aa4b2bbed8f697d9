/**
 * Kills a whole Cortex again and again: `cortex up` as a process, a model server and a receiver of answers that
 * outlive it, and senders who do not give up; and the processes of its sub-agents, alone. After each death the ledger is looked at, and after some of them all work is brought
 * to its end and compared with what was promised.
 */
import { setTimeout as delay } from "node:timers/promises";

import { createRandom, type Random } from "../../simulation/random.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { deathPoints, type SeededBug, warmSource } from "../patched-source.ts";
import { checkAfterDeath, checkAtRest, countOf, type Figures, type Witness, workUnderWay } from "./check.ts";
import { killChildren, leftBehind } from "./children.ts";
import { chooseDeath, die } from "./death.ts";
import { Door } from "./door.ts";
import { type Inbox, openInbox } from "./inbox.ts";
import { type Life, startLife } from "./life.ts";
import { type Model, startModel } from "./model.ts";
import { RUNTIME_POINTS } from "./points.ts";
import { askForEnds, type Promised, sendAll } from "./senders.ts";
import { makeHome, placesIn } from "./served.ts";
import { tellAgain, tellAll, type Told } from "./tellers.ts";
import { warmUp } from "./warm-up.ts";

export interface RuntimeCrashOptions {
  readonly kills: number;
  readonly seed: number;
  /** After this many a home is drained, checked at rest, and replaced by a new one. */
  readonly killsPerHome?: number;
  /** How many of the messages to managers take workers, as a part of 1. */
  readonly managing?: number;
  /** How many of the messages interrupt, beside those whose mode happens to. */
  readonly interrupting?: number;
  /** A bug to plant, for the test of the harness itself: it goes on until it has found that one. */
  readonly bug?: SeededBug;
}

export interface RuntimeCrashReport extends Figures {
  readonly kills: number;
  readonly accepted: number;
  /** How many turns the servers said that they had resumed. */
  readonly resumed: number;
  /** How many processes of sub-agents were killed while their server lived on. */
  readonly killedChildren: number;
  readonly problems: readonly string[];
}

const KILLS_PER_HOME = 12;
const MANAGING = 0.35;
/** Work that is not at its end after this long hangs, which is a finding too. */
const DRAIN_MS = 180_000;
/** With a planted bug, that it hangs is no finding, and the next home may show more. */
const BUGGED_DRAIN_MS = 20_000;
/** How often it is looked whether all is done. */
const LOOK_MS = 20;

export async function killRuntime(options: RuntimeCrashOptions): Promise<RuntimeCrashReport> {
  const { kills, seed, killsPerHome = KILLS_PER_HOME, managing = MANAGING, interrupting = 0, bug } = options;
  const points = deathPoints(RUNTIME_POINTS, bug?.patches ?? []);
  const random = createRandom(seed);
  await using model = await startModel(random);
  const patches = [...points.patches, ...(bug?.patches ?? [])];
  using source = await warmSource(patches, (path) => warmUp(path, model));
  const homes: RuntimeCrashReport[] = [];
  const isFound = (): boolean =>
    homes.some(({ problems }) => problems.some((problem) => bug?.symptom.test(problem) ?? true));
  for (let left = kills; left > 0 && !isFound(); left -= killsPerHome) {
    using folder = temporaryFolder();
    await using inbox = await openInbox(random);
    const parts = {
      source: source.path,
      home: folder.path,
      model,
      inbox,
      random,
      managing,
      interrupting,
      points: points.names,
    };
    homes.push(await liveIn(parts, Math.min(killsPerHome, left), bug !== undefined));
  }
  return sumUp(homes);
}

function sumUp(homes: readonly RuntimeCrashReport[]): RuntimeCrashReport {
  const total = (of: (home: RuntimeCrashReport) => number): number =>
    homes.reduce((sum, home) => sum + of(home), 0);
  return {
    kills: total(({ kills }) => kills),
    accepted: total(({ accepted }) => accepted),
    turns: total(({ turns }) => turns),
    aborted: total(({ aborted }) => aborted),
    compactions: total(({ compactions }) => compactions),
    calls: total(({ calls }) => calls),
    deliveries: total(({ deliveries }) => deliveries),
    firings: total(({ firings }) => firings),
    delegations: total(({ delegations }) => delegations),
    subAgents: total(({ subAgents }) => subAgents),
    resumed: total(({ resumed }) => resumed),
    killedChildren: total(({ killedChildren }) => killedChildren),
    problems: homes.flatMap(({ problems }) => problems),
  };
}

interface Parts {
  readonly source: string;
  readonly home: string;
  readonly model: Model;
  readonly inbox: Inbox;
  readonly random: Random;
  readonly managing: number;
  readonly interrupting: number;
  readonly points: readonly string[];
}

/** One home: so many kills, then a life in which everything comes to its end. */
async function liveIn(parts: Parts, kills: number, isBugged: boolean): Promise<RuntimeCrashReport> {
  const { home, model, inbox, random, managing, interrupting } = parts;
  makeHome(home, { model: model.url, inbox: inbox.url });
  const { log } = placesIn(home);
  const door = new Door();
  const promised: Promised = { accepted: new Map(), followed: new Set(), takenBack: new Set(), problems: [] };
  const senders = { door, log, random, managing, interrupting, promised };
  const told: Told = { acknowledged: new Map(), dropped: [], problems: [] };
  const tellers = { home, door, random, told };
  const { received } = inbox;
  const witness: Witness = { promised, told, received, doubtful: new Set(), interrupted: new Map() };
  const seen = { kills: 0, resumed: 0, problems: [] as string[] };
  const isOver = (): boolean => seen.kills >= kills || seen.problems.length > 0;
  const finish = async (life: Life): Promise<void> => {
    const { killed, resumed, problems } = await life.end();
    if (killed) seen.kills++;
    seen.resumed += resumed;
    seen.problems.push(...(await leftBehind(parts.source, { wasKilled: killed })));
    // A server may stumble over a planted bug before it is killed: that is not yet the harness finding it.
    seen.problems.push(...(isBugged ? [] : problems), ...checkAfterDeath(home, witness));
  };

  const sending = Promise.all([sendAll(senders, isOver), tellAll(tellers, isOver)]);
  let isServed = false;
  const killing = killChildren({ source: parts.source, random, isServed: () => isServed, isOver });
  while (!isOver()) {
    const death = chooseDeath(random, parts.points);
    const life = startLife({ ...parts, door }, death);
    isServed = true;
    seen.problems.push(...(await die(death, { served: life.served, model, inbox, log })));
    isServed = false;
    await finish(life);
  }
  if (seen.problems.length === 0) {
    const life = startLife({ ...parts, door }, undefined);
    const work = sending.then(() => Promise.all([askForEnds(senders), tellAgain(tellers)]));
    seen.problems.push(
      ...(await bringToRest(work, life, {
        door,
        isAtRest: () => workUnderWay(home, told) === 0,
        drainMs: isBugged ? BUGGED_DRAIN_MS : DRAIN_MS,
      })),
    );
    await finish(life);
    seen.problems.push(...checkAtRest(home, witness));
  }
  door.close();
  await sending;
  const killedChildren = await killing;
  const problems = [...seen.problems, ...promised.problems, ...told.problems, ...model.problems];
  return { ...seen, killedChildren, accepted: promised.accepted.size, ...countOf(home), problems };
}

/** Lets a server live until all work is done, then tells it to stop. */
async function bringToRest(
  work: Promise<unknown>,
  { served }: Life,
  {
    door,
    isAtRest,
    drainMs,
  }: { readonly door: Door; readonly isAtRest: () => boolean; readonly drainMs: number },
): Promise<string[]> {
  const enough = new AbortController();
  const settle = async (): Promise<"done"> => {
    await work;
    while (!enough.signal.aborted && !isAtRest()) await delay(LOOK_MS);
    return "done";
  };
  const outcome = await Promise.race([
    settle(),
    served.ended.then(() => "dead" as const),
    delay(drainMs, "late" as const, { signal: enough.signal }),
  ]);
  enough.abort();
  if (outcome !== "done") door.close();
  served.signal("SIGTERM");
  await work;
  switch (outcome) {
    case "done":
      return [];
    case "dead":
      return ["the server ended before its work was done"];
    case "late":
      return [`the work was not done after ${drainMs / 1_000} s`];
  }
}
