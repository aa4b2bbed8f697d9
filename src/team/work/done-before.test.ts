/** What has been done is never run again, however the file is saved afterwards. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { MEMBER, type PlayedTeam, playedTeam } from "../../../test/support/played-team.ts";
import { DAY_MS } from "../../model/durations.ts";
import { doneBefore, withDone } from "./done-before.ts";
import { KEEP_DONE_DAYS } from "../reports/housekeeping.ts";
import { MAX_DONE_TASKS, type MemberState } from "./member-state.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { gistOf } from "../markdown/task-gist.ts";

const PATH = `agents/${MEMBER}/tasks.md`;
/** Each look reads the store: without a pause they would take the core from the work that they wait for. */
const POLL_MS = 2;

const task = (title: string): string => `## ${title}\n**Status:** ready\n\nBody of ${title}.\n\n`;
const titleIn = (prompt: string): string => /--- Task ---\n\s*##+ (.*)/.exec(prompt)![1]!.trim();

/** One heartbeat, until nothing of it is under way. */
async function beat(team: PlayedTeam): Promise<void> {
  await using workers = team.begin();
  await workers.beat(MEMBER);
  const isAtWork = async () =>
    (((await team.store.team.get(team.root, MEMBER))?.state ?? {}) as { work?: unknown }).work !== undefined;
  while (await isAtWork()) await wait(POLL_MS);
}

async function doneOnce() {
  const team = await playedTeam("", (prompt) => ({ says: `did ${titleIn(prompt)}` }));
  const add = (title: string) =>
    team.folder.edit(PATH, { file: "tasks", edit: { kind: "add", title, body: `Body of ${title}.` } });
  await add("First");
  await add("Last");
  await beat(team);
  expect((await team.asked()).map(titleIn)).toEqual(["First", "Last"]);
  const save = (text: string): void => writeFileSync(join(team.root, PATH), text);
  const forget = (): void => rmSync(join(team.root, ".cortex/journal"), { recursive: true });
  return { team, add, save, forget, asked: async () => (await team.asked()).map(titleIn) };
}

test("two tasks that were done do not run again when the file is overwritten with text that lacks them", async () => {
  const { team, save, asked } = await doneOnce();
  await using _ = team;
  save("# My tasks\r\n\r\nNothing here.\r\n");
  await beat(team);
  expect(await asked()).toEqual(["First", "Last"]);
  expect(team.tasks()).not.toContain("ready");
});

test("however an older copy is saved, nothing runs again, and the file says that it is done", async () => {
  const mangled = fc.record({
    lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
    mark: fc.constantFrom("", "\uFEFF"),
    trailing: fc.constantFrom("", " ", "\t "),
    heading: fc.constantFrom("#", "##", "###", "####"),
    closing: fc.constantFrom("", " ##"),
    kept: fc.constantFrom([], ["First"], ["Last"], ["Last", "First"]),
    blank: fc.nat(2),
    isLater: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(mangled, async ({ lineEnd, mark, trailing, heading, closing, kept, blank, isLater }) => {
      const { team, save, forget, asked } = await doneOnce();
      await using _ = team;
      if (isLater) forget(); // the journal is read for a quarter of an hour
      const lines = kept.map(task).join("\n".repeat(blank)).split("\n");
      const text = lines
        .map((line) => (line.startsWith("## ") ? `${heading}${line.slice(2)}${closing}` : line))
        .join(`${trailing}${lineEnd}`);
      save(mark + text);
      await beat(team);
      await beat(team);
      expect(await asked()).toEqual(["First", "Last"]);
      const ready = readTasks(team.tasks()).tasks.filter(({ status }) => status !== "done");
      expect(ready).toEqual([]);
    }),
    { numRuns: 15 },
  );
});

test("a task that is reset while it is worked on is done all the same, and once", async () => {
  const folder: { root?: string } = {};
  await using team = await playedTeam(task("Only"), () => {
    writeFileSync(join(folder.root!, PATH), task("Only").replaceAll("\n", "\r\n"));
    return { says: "did it" };
  });
  folder.root = team.root;
  await beat(team);
  await beat(team);
  expect(await team.asked()).toHaveLength(1);
  expect(readTasks(team.tasks()).tasks).toMatchObject([{ status: "done", summary: "did it" }]);
});

test("the same task is done once more where somebody dispatches it, or writes it below the one that is done", async () => {
  const { team, add, save, asked } = await doneOnce();
  await using _ = team;
  save(`${team.tasks()}\n${task("First")}`);
  await beat(team);
  expect(await asked()).toEqual(["First", "Last", "First"]);
  save("");
  await beat(team);
  team.clock.advance(1);
  await add("First");
  await beat(team);
  expect(await asked()).toEqual(["First", "Last", "First", "First"]);
});

test("after housekeeping has taken it out, the same text is a new task", async () => {
  const { team, save, forget, asked } = await doneOnce();
  await using _ = team;
  forget();
  team.clock.advance(KEEP_DONE_DAYS * DAY_MS + 1);
  save(task("First"));
  await beat(team);
  expect(await asked()).toEqual(["First", "Last", "First"]);
});

test("somebody who writes it again by hand is told in the file what to do, and another text is another task", async () => {
  const { team, save, forget, asked } = await doneOnce();
  await using _ = team;
  forget();
  save(task("First"));
  await beat(team);
  expect(readTasks(team.tasks()).tasks).toMatchObject([
    { status: "done", summary: expect.stringContaining("dispatch it again or change its text") },
  ]);
  save(task("First").replace("Body", "The new body"));
  await beat(team);
  expect(await asked()).toEqual(["First", "Last", "First"]);
});

test("what was written into a task while it was worked on does not make it another", () => {
  const [plain] = readTasks(task("A")).tasks;
  const worked = `## A\n**Status:** in-progress\n**Started:** 2026-03-28T10:15\n\nBody of A.\n\nProgress: 1 of 2 done\n\n### Progress\n- 2026-03-28T10:20 attempt 1 failed\n`;
  expect(gistOf(readTasks(worked).tasks[0]!)).toBe(gistOf(plain!));
  const done = [
    { gist: gistOf(plain!), started: "2026-03-28T10:15", completed: "2026-03-28T10:30", atMs: 1 },
  ];
  const known = { done, nowMs: 2, addedMs: () => 0 };
  expect(doneBefore(readTasks(worked).tasks[0]!, { tasks: [] }, known)).toBe(done[0]);
  const later = worked.replace("T10:15", "T11:15");
  expect(doneBefore(readTasks(later).tasks[0]!, { tasks: [] }, known)).toBeUndefined();
});

test("what was done is kept once, and only so much of it", () => {
  const done = (at: number) => ({ gist: `g${at}`, completed: "2026-03-28T10:30", atMs: at });
  let state: MemberState = {};
  for (let at = 0; at <= MAX_DONE_TASKS; at++) state = withDone(withDone(state, done(at)), done(at));
  expect(state.done).toHaveLength(MAX_DONE_TASKS);
  expect(state.done?.[0]).toEqual(done(1));
});
