import { expect, test } from "vitest";

import { findTask, readTasks } from "./read-tasks.ts";
import { isActive } from "./task.ts";

/** As the protocol shows it. */
const COMPLETED = `## Add Stripe webhook endpoint
**Status:** done
**Started:** 2026-03-28T10:15
**Completed:** 2026-03-28T11:42

Create POST /webhooks/stripe, verify signature, handle payment_intent.payment_failed

### Summary
Implemented POST /webhooks/stripe with signature verification. Added tests.
`;

const titles = (text: string): string[] => readTasks(text).tasks.map(({ title }) => title);

test("the completed task of the protocol is read in full", () => {
  const { tasks, tick, problems } = readTasks(`${COMPLETED}\n<!-- cortex:last-tick 2026-03-28T11:45 -->\n`);
  expect(tasks).toEqual([
    {
      title: "Add Stripe webhook endpoint",
      ordinal: 1,
      status: "done",
      statusText: "done",
      started: "2026-03-28T10:15",
      completed: "2026-03-28T11:42",
      template: undefined,
      external: undefined,
      body: "Create POST /webhooks/stripe, verify signature, handle payment_intent.payment_failed",
      summary: "Implemented POST /webhooks/stripe with signature verification. Added tests.",
      line: 1,
      text: `${COMPLETED}\n`,
    },
  ]);
  expect(tick).toEqual({ stamp: "2026-03-28T11:45", line: 11 });
  expect(problems).toEqual([]);
});

test.each(["", "\uFEFF", "\n\n", "# Tasks\n\nNothing yet.\n", "---\ntags: x\n---\n"])(
  "%j has no tasks and no problems",
  (text) => {
    expect(readTasks(text)).toEqual({ tasks: [], tick: undefined, problems: [] });
  },
);

test("a space of another kind is one, with a tick below it and without", () => {
  const task = "## A\n\u00A0\n**Status:** ready\n";
  for (const text of [task, `${task}\n<!-- cortex:last-tick 2026-03-28T10:15 -->\n`])
    expect(readTasks(text).tasks).toMatchObject([{ title: "A", status: "ready" }]);
});

test("blank lines before metadata, any order of it, CRLF, trailing spaces and a BOM are read", () => {
  const text =
    "\uFEFF## One \t\r\n\r\n**Completed:** 2026-03-28T11:42  \r\n\r\n**Status:**\tdone \r\n**Priority:** high\r\n**Started:** 2026-03-28T10:15\r\n\r\nBody\r\n";
  expect(readTasks(text).tasks).toMatchObject([
    {
      title: "One",
      status: "done",
      started: "2026-03-28T10:15",
      completed: "2026-03-28T11:42",
      body: "Body",
      line: 1,
    },
  ]);
});

test("metadata of somebody else stays in the body where it stands below ours", () => {
  const text = "## One\n**Status:** ready\n**Priority:** high\n\nBody\n";
  expect(readTasks(text).tasks[0]!.body).toBe("**Priority:** high\n\nBody");
});

test("a heading in a code fence or in a comment is no task", () => {
  const task = "## Inside\n**Status:** ready\n";
  for (const [open, close] of [
    ["```", "```"],
    ["~~~~ md", "~~~~~"],
    ["  ```md", " ```"],
    ["<!-- later:", "-->"],
  ]) {
    const text = `## Before\n**Status:** ready\n\n${open}\n${task}${close}\n\n## After\n**Status:** ready\n`;
    expect(titles(text)).toEqual(["Before", "After"]);
    expect(readTasks(text).tasks[0]!.body).toContain("## Inside");
  }
});

test("a fence is closed only by one of its kind, at least as long and with nothing behind it", () => {
  const text = "````\n```\n~~~~\n```` md\n## Inside\n**Status:** ready\n````\n## After\n**Status:** ready\n";
  expect(titles(text)).toEqual(["After"]);
});

test("a fence that is never closed hides nothing, and is reported", () => {
  const text =
    "## One\n**Status:** ready\n```sh\n## Two\n**Status:** ready\n```js\n<!-- cortex:last-tick 2026-03-28T10:15 -->\n";
  const { tasks, tick, problems } = readTasks(text);
  expect(tasks.map(({ title }) => title)).toEqual(["One", "Two"]);
  expect(tick?.line).toBe(7);
  expect(problems).toMatchObject([
    { line: 3, rule: "fence-open" },
    { line: 6, rule: "fence-open" },
  ]);
});

test("many fences that are never closed are read in one pass", () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `\`\`\`${"`".repeat(i % 5)}js\n`).join("");
  expect(readTasks(`${text}## One\n**Status:** ready\n`).tasks).toHaveLength(1);
});

test("headings without a status are prose, and end the task above them", () => {
  const text = "# Tasks\n## One\n**Status:** ready\nBody\n## Notes\nProse\n### Two\n**Status:** ready\n";
  expect(readTasks(text).tasks).toMatchObject([{ title: "One", body: "Body" }]);
});

test("a status that is none is kept and not active, and only the whole word counts", () => {
  for (const status of ["blocked", "ready-later", "Ready", "readyish", "in progress", ""]) {
    const { tasks, problems } = readTasks(`## One\n**Status:** ${status}\n`);
    expect(tasks).toMatchObject([{ status: undefined, statusText: status }]);
    expect(isActive(tasks[0]!)).toBe(false);
    expect(problems).toMatchObject([{ line: 2, rule: "status-unknown" }]);
  }
});

test("tasks of the same title are told apart by their order", () => {
  const { tasks } = readTasks("## A\n**Status:** done\n## B\n**Status:** ready\n## A\n**Status:** ready\n");
  expect(tasks.map(({ title, ordinal }) => [title, ordinal])).toEqual([
    ["A", 1],
    ["B", 1],
    ["A", 2],
  ]);
  expect(findTask({ tasks }, { title: "A", ordinal: 2 })?.line).toBe(5);
  expect(findTask({ tasks }, { title: "A", ordinal: 3 })).toBeUndefined();
});

test("a task that was started is found by that, when one above it has gone", () => {
  const file = readTasks(
    "## A\n**Status:** in-progress\n**Started:** 2026-03-28T10:15\n## A\n**Status:** ready\n",
  );
  expect(findTask(file, { title: "A", ordinal: 2, started: "2026-03-28T10:15" })?.line).toBe(1);
  expect(findTask(file, { title: "A", ordinal: 2 })?.line).toBe(4);
  expect(findTask(file, { title: "A", ordinal: 1, started: "2026-03-28T09:00" })?.line).toBe(1);
});

test("the last comment of our prefix is the tick, wherever it stands", () => {
  const text = [
    "<!-- cortex:last-tick 2026-03-28T10:00 -->",
    "## One",
    "**Status:** ready",
    "<!--cortex:last-tick 2026-03-28T10:15-->",
    "Body <!-- cortex:last-tick 2026-03-28T10:30 -->",
    "<!-- shuttle:last-tick 2026-03-28T11:00 -->",
    "```",
    "<!-- cortex:last-tick 2026-03-28T12:00 -->",
    "```",
    "",
  ].join("\n");
  const { tick, tasks } = readTasks(text);
  expect(tick).toEqual({ stamp: "2026-03-28T10:30", line: 5 });
  expect(tasks[0]!.body).toBe("Body \n```\n<!-- cortex:last-tick 2026-03-28T12:00 -->\n```");
});

test("the last summary of a task counts, and other sections belong to the body", () => {
  const text =
    "## One\n**Status:** done\n\nBody\n### Summary\nFirst\n### Summary\nSecond\n\n### Progress\n- x\n";
  expect(readTasks(text).tasks).toMatchObject([
    { summary: "Second", body: "Body\n### Summary\nFirst\n### Progress\n- x" },
  ]);
});

test("Template and External are read", () => {
  const text = "## One\n**Status:** ready\n**Template:** review\n**External:** ~/x/.shuttle.md\n";
  expect(readTasks(text).tasks).toMatchObject([
    { template: "review", external: "~/x/.shuttle.md", body: "" },
  ]);
});

test.each<[string, string, number]>([
  ["## A\n**Started:** 2026-03-28T10:15\n**Status:** in-progress\n", "metadata-order", 3],
  ["## A\n**Status:** ready\n**Status:** done\n", "metadata-doubled", 3],
  ["## A\n  **Status:** ready\n", "metadata-indented", 2],
  ["## A\n**Status:** in-progress\n**Started:** yesterday\n", "stamp-invalid", 3],
  ["## A\n**Status:** in-progress\n", "started-missing", 2],
  ["## A\n**Status:** done\n", "completed-missing", 2],
  ["##\n**Status:** ready\n", "title-empty", 1],
  ["## A\n**Status:** ready\n## A\n**Status:** ready\n", "title-doubled", 3],
  ["## A\nText\n**Status:** ready\n", "status-misplaced", 3],
  ["## A\n**Status**: ready\n", "status-malformed", 2],
  ["## A\n- Status: ready\n", "status-malformed", 2],
  ["<!-- cortex:last-tick now -->\n", "tick-invalid", 1],
  ["<!-- cortex:last-tick 2026-03-28T10:15 -->\n## A\n**Status:** ready\n", "tick-misplaced", 1],
  ["<!-- cortex:last-tick 2026-03-28T10:15 -->\n".repeat(2), "tick-doubled", 1],
])("%j has the problem %s in line %i", (text, rule, line) => {
  expect(readTasks(text).problems).toEqual([
    { line, rule, message: expect.any(String) as string, hint: expect.any(String) as string },
  ]);
});

test("more than one task in progress is reported", () => {
  const text = ["A", "B"].map(
    (title) => `## ${title}\n**Status:** in-progress\n**Started:** 2026-03-28T10:15\n`,
  );
  expect(readTasks(text.join("")).problems).toMatchObject([{ line: 5, rule: "in-progress-several" }]);
});

test("a tick of ours before one of another prefix is at the end", () => {
  const text =
    "<!-- cortex:last-tick 2026-03-28T10:15 -->\n\n<!-- shuttle:last-tick 2026-03-28T10:15 -->\n\n";
  expect(readTasks(text).problems).toEqual([]);
});
