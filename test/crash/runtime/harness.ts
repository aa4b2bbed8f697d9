/**
 * Kills a whole Cortex again and again: `cortex up` as a process, a model server that outlives it, and senders
 * who do not give up. After each death the ledger is looked at, and after some of them all work is brought
 * to its end and compared with what was promised.
 */
import { setTimeout as delay } from "node:timers/promises";

import { createRandom, type Random } from "../../simulation/random.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { deathPoints, type Patch, patchedSource } from "../patched-source.ts";
import { checkAfterDeath, checkAtRest, countOf } from "./check.ts";
import { chooseDeath, die } from "./death.ts";
import { Door } from "./door.ts";
import { type Life, startLife } from "./life.ts";
import { type Model, startModel } from "./model.ts";
import { RUNTIME_POINTS } from "./points.ts";
import { askForEnds, type Promised, sendAll } from "./senders.ts";
import { makeHome, placesIn } from "./served.ts";

export interface RuntimeCrashOptions {
  readonly kills: number;
  readonly seed: number;
  /** A bug to plant, for the test of the harness itself. */
  readonly patches?: readonly Patch[];
}

export interface RuntimeCrashReport {
  readonly kills: number;
  readonly accepted: number;
  readonly turns: number;
  readonly calls: number;
  /** How many turns the servers said that they had resumed. */
  readonly resumed: number;
  readonly problems: readonly string[];
}

/** After this many kills a home is drained, checked at rest, and replaced by a new one. */
const KILLS_PER_HOME = 12;
/** Work that is not at its end after this long hangs, which is a finding too. */
const DRAIN_MS = 180_000;

export async function killRuntime(options: RuntimeCrashOptions): Promise<RuntimeCrashReport> {
  const { kills, seed, patches = [] } = options;
  const points = deathPoints(RUNTIME_POINTS, patches);
  using source = patchedSource([...points.patches, ...patches]);
  const random = createRandom(seed);
  await using model = await startModel(random);
  const report = { kills: 0, accepted: 0, turns: 0, calls: 0, resumed: 0, problems: [] as string[] };
  while (report.kills < kills && report.problems.length === 0) {
    using folder = temporaryFolder();
    const parts = { source: source.path, home: folder.path, model, random, points: points.names };
    const round = Math.min(KILLS_PER_HOME, kills - report.kills);
    const lived = await liveIn(parts, round, patches.length > 0);
    report.kills += lived.kills;
    report.accepted += lived.accepted;
    report.turns += lived.turns;
    report.calls += lived.calls;
    report.resumed += lived.resumed;
    report.problems.push(...lived.problems);
  }
  return report;
}

interface Parts {
  readonly source: string;
  readonly home: string;
  readonly model: Model;
  readonly random: Random;
  readonly points: readonly string[];
}

/** One home: so many kills, then a life in which everything comes to its end. */
async function liveIn(parts: Parts, kills: number, isBugged: boolean): Promise<RuntimeCrashReport> {
  const { home, model, random } = parts;
  makeHome(home, model.url);
  const { log } = placesIn(home);
  const door = new Door();
  const promised: Promised = { accepted: new Map(), followed: new Set(), takenBack: new Set(), problems: [] };
  const senders = { door, log, random, promised };
  const seen = { kills: 0, resumed: 0, problems: [] as string[] };
  const isOver = (): boolean => seen.kills >= kills || seen.problems.length > 0;
  const finish = async (life: Life): Promise<void> => {
    const { killed, resumed, problems } = await life.end();
    if (killed) seen.kills++;
    seen.resumed += resumed;
    // A server may stumble over a planted bug before it is killed: that is not yet the harness finding it.
    seen.problems.push(...(isBugged ? [] : problems), ...checkAfterDeath(home, promised));
  };

  const sending = sendAll(senders, isOver);
  while (!isOver()) {
    const death = chooseDeath(random, parts.points);
    const life = startLife({ ...parts, door }, death);
    seen.problems.push(...(await die(death, { served: life.served, model, log })));
    await finish(life);
  }
  if (seen.problems.length === 0) {
    const life = startLife({ ...parts, door }, undefined);
    const work = sending.then(() => askForEnds(senders));
    seen.problems.push(...(await bringToRest(work, life, door)));
    await finish(life);
    seen.problems.push(...checkAtRest(home, promised));
  }
  door.close();
  await sending;
  const problems = [...seen.problems, ...promised.problems];
  return { ...seen, accepted: promised.accepted.size, ...countOf(home), problems };
}

/** Lets a server live until all work is done, then tells it to stop. */
async function bringToRest(work: Promise<void>, { served }: Life, door: Door): Promise<string[]> {
  const enough = new AbortController();
  const outcome = await Promise.race([
    work.then(() => "done" as const),
    served.ended.then(() => "dead" as const),
    delay(DRAIN_MS, "late" as const, { signal: enough.signal }),
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
      return [`the work was not done after ${DRAIN_MS / 1_000} s`];
  }
}
