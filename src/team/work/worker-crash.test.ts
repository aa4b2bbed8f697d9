/** A member whose process ends at any write goes on as if it had not. */
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";

import {
  type Cut,
  MEMBER,
  type PlayedTeam,
  playedTeam,
  type Plays,
} from "../../../test/support/played-team.ts";

/** Each look reads the store and the file: without a pause they would take the core from the work that they wait for. */
const POLL_MS = 2;

const task = (title: string): string => `## ${title}\n**Status:** ready\n\nBody of ${title}.\n\n`;
const TASKS = task("First") + task("Flagged") + task("Last");
const titleIn = (prompt: string): string => /--- Task ---\n## (.*)/.exec(prompt)![1]!;
const plays: Plays = (prompt) =>
  titleIn(prompt) === "Flagged" ? { flags: "no access" } : { says: `did ${titleIn(prompt)}` };

async function outcome(team: PlayedTeam) {
  return { tasks: team.tasks(), note: team.note(), asked: (await team.asked()).map(titleIn) };
}

/** Lets a process work until nothing is left to do, or it is cut off. */
async function work(team: PlayedTeam, cut?: Cut): Promise<void> {
  await using workers = team.begin(cut);
  await workers.recover();
  await workers.beat(MEMBER).catch(() => {}); // it was cut off
  while (!(await team.isOver())) await wait(POLL_MS);
}

async function undisturbed() {
  await using team = await playedTeam(TASKS, plays);
  await work(team);
  return { ...(await outcome(team)), writes: team.writes };
}

const plain = await undisturbed();

test("without a crash every task is asked for once, in its order", () => {
  expect(plain.asked).toEqual(["First", "Flagged", "Last"]);
  expect(plain.tasks.match(/### Summary/g)).toHaveLength(2);
  expect(plain.tasks).toContain("flagged: no access");
});

const MOMENTS = Array.from({ length: plain.writes }, (_, at) => [
  { write: at + 1, when: "before" as const },
  { write: at + 1, when: "after" as const },
]).flat();

test.each(MOMENTS)("cut off $when write $write, it comes to the same", async (cut) => {
  await using team = await playedTeam(TASKS, plays);
  await work(team, cut);
  await work(team);
  const { writes: _, ...expected } = plain;
  expect(await outcome(team)).toEqual(expected);
});
