import { expect, test } from "vitest";

import { chooseWork, type ChoiceContext } from "./choose-work.ts";
import { digestOf, type MemberState } from "./member-state.ts";
import { readTasks } from "../markdown/read-tasks.ts";

const NOW_MS = Date.UTC(2026, 2, 28, 10);
const BEAT: ChoiceContext = { nowMs: NOW_MS, timezone: "UTC", heartbeatMinutes: 15, isBeat: true };

const READY = "## Next\n**Status:** ready\n\n";
const started = (stamp: string, more = ""): string =>
  `## Old\n**Status:** in-progress\n**Started:** ${stamp}\n\nBody.\n${more}\n`;
const FLAGGED = started("2026-03-28T08:00", "\n### Progress\n- 2026-03-28T08:30 flagged: no access\n");
const tick = (stamp: string): string => `<!-- cortex:last-tick ${stamp} -->\n`;

function choose(text: string, state: MemberState = {}, now: Partial<ChoiceContext> = {}): string {
  const choice = chooseWork(readTasks(text), state, { ...BEAT, ...now });
  return "task" in choice ? `${choice.kind} ${choice.task.title}` : choice.kind;
}

const failedOnce: MemberState = {
  troubles: [{ title: "Old", ordinal: 1, started: "2026-03-28T08:00", failures: 1 }],
};
const flagged = (text: string): MemberState => ({
  troubles: [
    {
      ...failedOnce.troubles![0]!,
      flagged: digestOf(readTasks(text).tasks.find(({ title }) => title === "Old")!),
    },
  ],
});

test.each([
  ["nothing is there", "", "idle"],
  ["everything is done or unknown", "## A\n**Status:** done\n\n## B\n**Status:** later\n", "idle"],
  ["something is ready", READY, "claim Next"],
  ["something is in progress, wherever it stands", READY + started("2026-03-28T08:00"), "resume Old"],
  ["it was started without a stamp", "## Old\n**Status:** in-progress\n", "resume Old"],
  ["it was started just now, and not by us", READY + started("2026-03-28T09:50"), "claim Next"],
  ["somebody else ticks", READY + started("2026-03-28T08:00") + tick("2026-03-28T09:50"), "claim Next"],
  ["only what they do is left", started("2026-03-28T08:00") + tick("2026-03-28T09:50"), "waiting"],
  ["their tick is in the future", started("2026-03-28T08:00") + tick("2027-01-01T00:00"), "waiting"],
  ["their tick is old", READY + started("2026-03-28T08:00") + tick("2026-03-28T09:00"), "resume Old"],
  ["a task is flagged", FLAGGED + READY, "claim Next"],
  ["only a flagged task is left", FLAGGED, "waiting"],
])("what is next where %s", (_, text, expected) => {
  expect(choose(text)).toBe(expected);
});

test("our own tick says nothing about others", () => {
  const text = started("2026-03-28T08:00") + tick("2026-03-28T09:50");
  expect(choose(text, { tick: "2026-03-28T09:50" })).toBe("resume Old");
});

test("a tick of somebody else is remembered after ours has taken its place", () => {
  const text = started("2026-03-28T08:00") + tick("2026-03-28T09:50");
  const state = { tick: "2026-03-28T09:50", foreignTickMs: NOW_MS - 16 * 60_000 };
  expect(choose(text, state)).toBe("waiting");
});

test("what has failed is tried again with a heartbeat and not before, and nothing else is begun meanwhile", () => {
  const text = READY + started("2026-03-28T08:00");
  expect(choose(text, failedOnce, { isBeat: false })).toBe("waiting");
  expect(choose(text, failedOnce)).toBe("resume Old");
});

test("a flagged task is skipped until somebody has edited it", () => {
  expect(choose(FLAGGED, flagged(FLAGGED))).toBe("waiting");
  expect(choose(FLAGGED.replace("Body.", "Body, with access."), flagged(FLAGGED))).toBe("resume Old");
});

test("a flagged task that stands for another file is looked at with every heartbeat", () => {
  const text = FLAGGED.replace("**Started:**", "**External:** other.md\n**Started:**");
  expect(choose(text)).toBe("resume Old");
  expect(choose(text, {}, { isBeat: false })).toBe("waiting");
});
