/** Kills a child again and again while it writes, and looks at what is left after each death. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";

import { createRandom, type Random } from "../simulation/random.ts";
import { temporaryFolder } from "../support/temporary.ts";
import type { Acknowledgement } from "./acknowledgement.ts";
import { checkAtRest, checkDatabase } from "./check.ts";
import { compiledIn, deathPoints, type SeededBug, STORE_POINTS, warmSource } from "./patched-source.ts";

export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  /** A bug to plant, for the test of the harness itself: it goes on until it has found that one. */
  readonly bug?: SeededBug;
}

export interface CrashReport {
  readonly kills: number;
  readonly acknowledged: number;
  readonly problems: readonly string[];
}

/** After this many kills a database is drained, checked at rest, and replaced by a new one. */
const KILLS_PER_DATABASE = 25;
/** Some points are seldom passed, and some never: hooks that have fired for good fire no more. */
const LONG_LIFE_LINES = 2_000;
/** A child that says nothing for this long has hung, which is a finding too. */
const SILENCE_MS = 30_000;

export async function killAgainAndAgain({ kills, seed, bug }: CrashOptions): Promise<CrashReport> {
  const points = deathPoints(STORE_POINTS, bug?.patches ?? []);
  using source = await warmSource([...points.patches, ...(bug?.patches ?? [])], warmUp);
  const parts = { source: source.path, points: points.names, random: createRandom(seed), bug };
  const rounds: CrashReport[] = [];
  const isFound = (): boolean =>
    rounds.some(({ problems }) => problems.some((problem) => bug?.symptom.test(problem) ?? true));
  for (let left = kills; left > 0 && !isFound(); left -= KILLS_PER_DATABASE)
    rounds.push(await killOn(Math.min(KILLS_PER_DATABASE, left), parts));
  return {
    kills: rounds.reduce((sum, round) => sum + round.kills, 0),
    acknowledged: rounds.reduce((sum, round) => sum + round.acknowledged, 0),
    problems: rounds.flatMap(({ problems }) => problems),
  };
}

interface Parts {
  readonly source: string;
  readonly points: readonly string[];
  readonly random: Random;
  readonly bug: SeededBug | undefined;
}

/** One database: so many kills, then a life in which all work is done. It ends with the first problem. */
async function killOn(kills: number, { source, points, random, bug }: Parts): Promise<CrashReport> {
  using folder = temporaryFolder();
  const path = join(folder.path, "cortex.db");
  const said: Acknowledgement[] = [];
  for (let life = 1; life <= kills + 1; life++) {
    const drains = life > kills;
    const child = await runChild(source, {
      args: [path, drains ? "drain" : "work", String(life), String(random.below(2 ** 31))],
      // Some deaths come from outside at a random moment, the others at a point of the batch.
      ...(random.chance(0.5)
        ? { point: random.pick(points), count: random.below(60), lines: drains ? Infinity : LONG_LIFE_LINES }
        : { lines: drains ? Infinity : random.below(400) }),
      drains,
    });
    said.push(...child.said);
    // A child may stumble over a planted bug before it is killed: that is not yet the harness finding it.
    const stumbles = bug === undefined ? child.problems : [];
    const problems = [
      ...stumbles,
      ...checkDatabase(path, said),
      ...(drains && child.problems.length === 0 ? checkAtRest(path) : []),
    ];
    if (problems.length > 0) return { kills: life, acknowledged: said.length, problems };
  }
  return { kills, acknowledged: said.length, problems: [] };
}

async function warmUp(source: string): Promise<void> {
  using folder = temporaryFolder();
  const args = [join(folder.path, "cortex.db"), "drain", "1", "1"];
  await runChild(source, { args, lines: Infinity, drains: true });
}

interface Life {
  /** The database, what to do with it, the number of the life, and a seed. */
  readonly args: readonly string[];
  readonly point?: string;
  readonly count?: number;
  /** How many lines it may say before it is killed. */
  readonly lines: number;
  readonly drains: boolean;
}

async function runChild(
  source: string,
  life: Life,
): Promise<{ said: Acknowledgement[]; problems: string[] }> {
  const said: Acknowledgement[] = [];
  const program = join(source, "test/crash/child.ts");
  const child = spawn(process.execPath, [program, ...life.args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      ...compiledIn(source),
      CRASH_POINT: life.drains ? "" : (life.point ?? ""),
      CRASH_COUNT: String(life.count ?? 0),
    },
  });
  let complaint = "";
  child.stderr.on("data", (data: Buffer) => (complaint += data.toString()));
  let hung = false;
  const kill = (): void => void child.kill("SIGKILL");
  let silence = setTimeout(() => ((hung = true), kill()), SILENCE_MS);
  for await (const line of createInterface({ input: child.stdout })) {
    clearTimeout(silence);
    silence = setTimeout(() => ((hung = true), kill()), SILENCE_MS);
    if (isWhole(line)) said.push(JSON.parse(line) as Acknowledgement);
    if (said.length >= life.lines) kill();
  }
  clearTimeout(silence);
  if (child.exitCode === null && child.signalCode === null) {
    await new Promise<void>((resolve) => child.once("exit", () => resolve()));
  }
  const problems: string[] = [];
  if (hung) problems.push("the child hung");
  if (child.signalCode === null && child.exitCode !== 0) problems.push(`the child failed: ${complaint}`);
  if (life.drains && child.exitCode === 0 && said.at(-1)?.kind !== "drained")
    problems.push("the drain did not end");
  return { said, problems };
}

/** The last line may have been cut by the death of its writer. */
function isWhole(line: string): boolean {
  return line.endsWith("}");
}
