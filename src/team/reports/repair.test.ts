import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { array, assert, boolean, constantFrom, property, tuple } from "fast-check";
import { expect, test } from "vitest";

import { member, teamDirectory } from "../../../test/support/team-directory.ts";
import { lintTeam } from "./lint.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { isRepairable, repair, repairTasks } from "./repair.ts";
import { TeamFolder } from "../files/team-folder.ts";
import { TeamReader } from "../files/team-reader.ts";

test("the status moves up to the heading, and metadata to the margin", () => {
  expect(
    repairTasks(
      "## A\n\n  **Started:** 2026-03-28T10:15\n**Template:** review\n\t**Status:** in-progress\n\nBody\n  **Status:** of the body\n",
    ),
  ).toBe(
    "## A\n\n**Status:** in-progress\n**Started:** 2026-03-28T10:15\n**Template:** review\n\nBody\n  **Status:** of the body\n",
  );
});

test("the line ends of a file stay what they are, also where its last line has none", () => {
  expect(repairTasks("## A\r\n**Started:** 2026-03-28T10:15\r\n**Status:** done")).toBe(
    "## A\r\n**Status:** done\r\n**Started:** 2026-03-28T10:15",
  );
});

test("metadata of others, and what is there twice, keeps its order", () => {
  expect(
    repairTasks(
      "## A\n**Started:** 2026-03-28T10:15\n**Priority:** high\n**Started:** 2026-03-28T10:16\n**Status:** done\n\nBody\n",
    ),
  ).toBe(
    "## A\n**Status:** done\n**Priority:** high\n**Started:** 2026-03-28T10:15\n**Started:** 2026-03-28T10:16\n\nBody\n",
  );
});

test("of several ticks the last one stays, at the end; those of others are not touched", () => {
  expect(
    repairTasks(
      "<!-- cortex:last-tick 2026-03-28T10:00 -->\n## A\n**Status:** ready\n\n<!-- cortex:last-tick 2026-03-28T11:00 -->\n<!-- shuttle:last-tick 2026-03-28T09:00 -->\n\n## B\n**Status:** ready\n",
    ),
  ).toBe(
    "## A\n**Status:** ready\n\n<!-- shuttle:last-tick 2026-03-28T09:00 -->\n\n## B\n**Status:** ready\n\n<!-- cortex:last-tick 2026-03-28T11:00 -->\n",
  );
});

const line = constantFrom(
  "## A",
  "## B",
  "**Status:** ready",
  "  **Status:** in-progress",
  "**Status:** done",
  "**Status:** later",
  "\t**Started:** 2026-03-28T10:15",
  "**Completed:** 2026-03-28T11:42",
  "**Priority:** high",
  "### Summary",
  "```",
  "text",
  "",
  "<!-- cortex:last-tick 2026-03-28T10:15 -->",
  "<!-- cortex:last-tick soon -->",
  "<!-- shuttle:last-tick 2026-03-28T10:15 -->",
);
const file = tuple(array(line, { maxLength: 30 }), constantFrom("\n", "\r\n"), boolean(), boolean()).map(
  ([lines, end, isClosed, hasMark]) => (hasMark ? "\u{FEFF}" : "") + lines.join(end) + (isClosed ? end : ""),
);

test("whatever a file says, repairing it changes no task and no tick, and twice is the same as once", () => {
  assert(
    property(file, (text) => {
      const repaired = repairTasks(text);
      const [before, after] = [readTasks(text), readTasks(repaired)];
      const meaning = ({ tasks, tick }: typeof before) => ({
        tick: tick?.stamp,
        tasks: tasks.map((task) => ({ ...task, line: 0, text: "" })),
      });
      expect(meaning(after)).toEqual(meaning(before));
      expect(repairTasks(repaired)).toBe(repaired);
      const isInvalid = before.problems.some(({ rule }) => rule === "tick-invalid");
      const left = after.problems.filter(isRepairable).map(({ rule }) => rule);
      expect(isInvalid && before.tick === undefined ? [] : left).toEqual([]);
    }),
  );
});

test("a repaired team has no finding left that could be repaired", async () => {
  using directory = teamDirectory({
    ...member("a", {
      tasks:
        "<!-- cortex:last-tick 2026-03-28T10:00 -->\n## A\n**Started:** 2026-03-28T09:00\n**Status:** in-progress\n",
    }),
    ...member("b"),
  });
  rmSync(join(directory.path, "agents/b/tasks.md"));
  const clock = (): number => Date.parse("2026-03-28T12:00:00Z");
  const reader = new TeamReader({ root: directory.path, clock, timezone: "UTC", heartbeatMinutes: 15 });
  const findings = lintTeam(await reader.read(), "/nowhere");

  const changed = await repair(new TeamFolder({ root: directory.path, clock }), findings);

  expect(changed).toEqual(["agents/a/tasks.md", "agents/b/tasks.md"]);
  expect(readFileSync(join(directory.path, "agents/a/tasks.md"), "utf8")).toBe(
    "## A\n**Status:** in-progress\n**Started:** 2026-03-28T09:00\n\n<!-- cortex:last-tick 2026-03-28T10:00 -->\n",
  );
  expect(lintTeam(await reader.read(), "/nowhere").filter(isRepairable)).toEqual([]);
});
