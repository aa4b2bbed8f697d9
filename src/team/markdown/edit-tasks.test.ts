import { expect, test } from "vitest";

import type { TaskEdit } from "./edit.ts";
import { applyTaskEdit, isTaskEditDone, settleTaskEdit } from "./edit-tasks.ts";
import { readTasks } from "./read-tasks.ts";

const STAMP = "2026-03-28T10:15";
const A = { title: "A", ordinal: 1 };
const TICK = "<!-- cortex:last-tick 2026-03-28T10:00 -->\n";

test("a task is dispatched, claimed and completed as the protocol shows it", () => {
  const title = "Add Stripe webhook endpoint";
  const task = { title, ordinal: 1 };
  const body = "Create POST /webhooks/stripe, verify signature, handle payment_intent.payment_failed";
  const summary = "Implemented POST /webhooks/stripe with signature verification. Added tests.";
  const added = applyTaskEdit("", { kind: "add", title, body });
  expect(added).toBe(`## ${title}\n**Status:** ready\n\n${body}\n`);
  const claimed = applyTaskEdit(added, { kind: "claim", task, stamp: "2026-03-28T10:15" });
  const completed = applyTaskEdit(claimed, { kind: "complete", task, stamp: "2026-03-28T11:42", summary });
  expect(completed).toBe(`## Add Stripe webhook endpoint
**Status:** done
**Started:** 2026-03-28T10:15
**Completed:** 2026-03-28T11:42

Create POST /webhooks/stripe, verify signature, handle payment_intent.payment_failed

### Summary
Implemented POST /webhooks/stripe with signature verification. Added tests.
`);
});

test.each<[string, TaskEdit, string, string]>([
  ["adding to an empty file", { kind: "add", title: "A" }, "", "## A\n**Status:** ready\n"],
  ["adding below a BOM", { kind: "add", title: "A" }, "\uFEFF", "\uFEFF## A\n**Status:** ready\n"],
  [
    "adding where the last line has no end",
    { kind: "add", title: "A" },
    "# Tasks",
    "# Tasks\n\n## A\n**Status:** ready\n",
  ],
  [
    "adding before the tick",
    { kind: "add", title: "A", body: "Body" },
    `# Tasks\n\n${TICK}`,
    `# Tasks\n\n## A\n**Status:** ready\n\nBody\n\n${TICK}`,
  ],
  [
    "adding before ticks of two prefixes",
    { kind: "add", title: "A" },
    `${TICK}\n<!-- shuttle:last-tick ${STAMP} -->`,
    `## A\n**Status:** ready\n\n${TICK}\n<!-- shuttle:last-tick ${STAMP} -->`,
  ],
  [
    "adding to a file with CRLF",
    { kind: "add", title: "A", template: "review", external: "x.md" },
    "# Tasks\r\n",
    "# Tasks\r\n\r\n## A\r\n**Status:** ready\r\n**Template:** review\r\n**External:** x.md\r\n",
  ],
  [
    "claiming where the file ends with the status",
    { kind: "claim", task: A, stamp: STAMP },
    "## A\r\n**Status:** ready",
    `## A\r\n**Status:** in-progress\r\n**Started:** ${STAMP}\r\n`,
  ],
  [
    "claiming with spaces around",
    { kind: "claim", task: A, stamp: STAMP },
    "## A\n\n**Status:**   ready  \nBody\n",
    `## A\n\n**Status:**   in-progress  \n**Started:** ${STAMP}\nBody\n`,
  ],
  [
    "claiming with a comment behind the status, and an empty Started",
    { kind: "claim", task: A, stamp: STAMP },
    `## A\n**Status:** ready <!-- soon -->\n**Started:**`,
    `## A\n**Status:** in-progress <!-- soon -->\n**Started:** ${STAMP}`,
  ],
  [
    "claiming what was started before",
    { kind: "claim", task: A, stamp: STAMP },
    "## A\n**Started:** 2026-01-01T00:00\n**Status:** ready\n",
    `## A\n**Started:** ${STAMP}\n**Status:** in-progress\n`,
  ],
  [
    "claiming with the line ends of the neighbour",
    { kind: "claim", task: A, stamp: STAMP },
    "## A\r\n**Status:** ready\nBody\r\n",
    `## A\r\n**Status:** in-progress\n**Started:** ${STAMP}\nBody\r\n`,
  ],
  [
    "completing what has no body, before the next task",
    { kind: "complete", task: A, stamp: STAMP, summary: "Did it.\r\nAll." },
    "## A\n**Status:** in-progress\n\n## B\n**Status:** ready\n",
    `## A\n**Status:** done\n**Completed:** ${STAMP}\n\n### Summary\nDid it.\nAll.\n\n## B\n**Status:** ready\n`,
  ],
  [
    "completing before the tick, without a line end before",
    { kind: "complete", task: A, stamp: STAMP, summary: " " },
    "## A\n**Status:** in-progress\n**Started:** x",
    `## A\n**Status:** done\n**Started:** x\n**Completed:** ${STAMP}\n\n### Summary\n(no summary)\n`,
  ],
  [
    "completing above the tick",
    { kind: "complete", task: A, stamp: STAMP, summary: "Did it." },
    `## A\n**Status:** in-progress\n\nBody\n\n${TICK}`,
    `## A\n**Status:** done\n**Completed:** ${STAMP}\n\nBody\n\n### Summary\nDid it.\n\n${TICK}`,
  ],
  [
    "the first note",
    { kind: "note", task: A, stamp: STAMP, text: "tried\nand failed" },
    `## A\n**Status:** in-progress\n\nBody\n\n${TICK}`,
    `## A\n**Status:** in-progress\n\nBody\n\n### Progress\n- ${STAMP} tried and failed\n\n${TICK}`,
  ],
  [
    "a further note",
    { kind: "note", task: A, stamp: STAMP, text: "again" },
    "## A\n**Status:** in-progress\n### Progress\n- first\n\n### Summary\nx\n",
    `## A\n**Status:** in-progress\n### Progress\n- first\n- ${STAMP} again\n\n### Summary\nx\n`,
  ],
  [
    "the first progress",
    { kind: "progress", task: A, text: "1 of 3 done" },
    "## A\n**Status:** in-progress\n\nBody\n\n### Progress\n- x\n",
    "## A\n**Status:** in-progress\n\nBody\n\nProgress: 1 of 3 done\n\n### Progress\n- x\n",
  ],
  [
    "further progress",
    { kind: "progress", task: A, text: "2 of 3 done" },
    "## A\n**Status:** in-progress\n\nProgress: 1 of 3 done\r\nBody\n",
    "## A\n**Status:** in-progress\n\nProgress: 2 of 3 done\r\nBody\n",
  ],
  ["a tick in an empty file", { kind: "tick", stamp: STAMP }, "", `<!-- cortex:last-tick ${STAMP} -->\n`],
  [
    "the first tick",
    { kind: "tick", stamp: STAMP },
    "## A\n**Status:** ready",
    `## A\n**Status:** ready\n\n<!-- cortex:last-tick ${STAMP} -->\n`,
  ],
  [
    "a tick in its place",
    { kind: "tick", stamp: STAMP },
    `## A\r\n**Status:** ready\r\n${TICK}\n<!-- shuttle:last-tick x -->`,
    `## A\r\n**Status:** ready\r\n<!-- cortex:last-tick ${STAMP} -->\n\n<!-- shuttle:last-tick x -->`,
  ],
  [
    "a tick where there are several, and a task below them",
    { kind: "tick", stamp: STAMP },
    `${TICK}Text${TICK}${TICK}## A\n**Status:** ready\n`,
    `Text\n## A\n**Status:** ready\n\n<!-- cortex:last-tick ${STAMP} -->\n`,
  ],
  [
    "removing what is done, around a tick",
    { kind: "remove", tasks: [A] },
    `# Tasks\n## A\n**Status:** done\n${TICK}\nBody\n\n## B\n**Status:** ready\n`,
    `# Tasks\n${TICK}## B\n**Status:** ready\n`,
  ],
])("%s changes nothing else", (_, edit, before, after) => {
  const settled = settleTaskEdit(before, edit);
  expect(isTaskEditDone(before, settled)).toBe(false);
  expect(applyTaskEdit(before, settled)).toBe(after);
  expect(isTaskEditDone(after, settled)).toBe(true);
  expect(applyTaskEdit(after, settled)).toBe(after);
});

const withStatus = (status: string): string => `## A\n**Status:** ${status}\n**Started:** 2026-01-01T00:00\n`;

test.each<[string, TaskEdit]>([
  ["in-progress", { kind: "claim", task: A, stamp: STAMP }],
  ["done", { kind: "claim", task: A, stamp: STAMP }],
  ["blocked", { kind: "claim", task: A, stamp: STAMP }],
  ["ready", { kind: "complete", task: A, stamp: STAMP, summary: "x" }],
  ["done", { kind: "complete", task: A, stamp: STAMP, summary: "x" }],
  ["ready", { kind: "remove", tasks: [A] }],
  ["in-progress", { kind: "remove", tasks: [A] }],
  ["blocked", { kind: "remove", tasks: [A] }],
])("what is %s refuses %j", (status, edit) => {
  expect(() => applyTaskEdit(withStatus(status), edit)).toThrow(
    expect.objectContaining({ code: "state_conflict" }),
  );
});

test.each<TaskEdit>([
  { kind: "claim", task: { title: "B", ordinal: 1 }, stamp: STAMP },
  { kind: "complete", task: { title: "A", ordinal: 2 }, stamp: STAMP, summary: "" },
  { kind: "note", task: { title: "a", ordinal: 1 }, stamp: STAMP, text: "x" },
  { kind: "progress", task: { title: "", ordinal: 1 }, text: "x" },
])("%j is for no task of the file", (edit) => {
  expect(() => applyTaskEdit(withStatus("ready"), edit)).toThrow(
    expect.objectContaining({ code: "task_unknown" }),
  );
});

test("two tasks of one title can be claimed in the same minute", () => {
  const text = "## A\n**Status:** ready\n## A\n**Status:** ready\n";
  const once = applyTaskEdit(text, { kind: "claim", task: A, stamp: STAMP });
  const twice = applyTaskEdit(once, { kind: "claim", task: { title: "A", ordinal: 2 }, stamp: STAMP });
  expect(readTasks(twice).tasks.map(({ status }) => status)).toEqual(["in-progress", "in-progress"]);
});

test("the same title can be dispatched again, and an edit that was settled is added once", () => {
  const once = applyTaskEdit("", { kind: "add", title: "A" });
  const again = settleTaskEdit(once, { kind: "add", title: "A" });
  const twice = applyTaskEdit(once, again);
  expect(readTasks(twice).tasks).toHaveLength(2);
  expect(applyTaskEdit(twice, again)).toBe(twice);
});

test("of two tasks that are the same to the letter, one is taken out, however often", () => {
  const one = "## A\n**Status:** done\n\n";
  const edit = settleTaskEdit(one + one, { kind: "remove", tasks: [A] });
  const once = applyTaskEdit(one + one, edit);
  expect(once).toBe(one);
  expect(isTaskEditDone(once, edit)).toBe(true);
  expect(applyTaskEdit(once, edit)).toBe(one);
});

test("removing again does not take the next task of the same title, nor one that was edited since", () => {
  const text = "## A\n**Status:** done\nfirst\n\n## A\n**Status:** done\nsecond\n";
  const edit = settleTaskEdit(text, { kind: "remove", tasks: [A] });
  const once = applyTaskEdit(text, edit);
  expect(once).toBe("## A\n**Status:** done\nsecond\n");
  expect(applyTaskEdit(once, edit)).toBe(once);
  const edited = text.replace("first", "first, and more");
  expect(applyTaskEdit(edited, edit)).toBe(edited);
});

test("what is completed is found by when it was started, also when one above has gone", () => {
  const text = "## A\n**Status:** in-progress\n**Started:** 2026-01-01T00:00\n## A\n**Status:** ready\n";
  const task = { title: "A", ordinal: 2, started: "2026-01-01T00:00" };
  const done = applyTaskEdit(text, { kind: "complete", task, stamp: STAMP, summary: "x" });
  expect(readTasks(done).tasks.map(({ status }) => status)).toEqual(["done", "ready"]);
});
