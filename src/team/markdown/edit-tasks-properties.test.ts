/** What holds for every edit of every text. */
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { CortexError } from "../../model/errors.ts";
import type { TaskEdit } from "./edit.ts";
import { applyTaskEdit, isTaskEditDone, settleTaskEdit } from "./edit-tasks.ts";
import { readTasks } from "./read-tasks.ts";
import type { Task } from "./task.ts";

const STAMP = "2026-03-28T10:15";

/** Files as unlike a task file as they come, and near enough to be one. */
const fragments = fc.constantFrom(
  "## A",
  "## A",
  "## B ",
  "##\tC",
  "## ",
  "# Top",
  "### Summary",
  "### Progress",
  "**Status:** ready",
  "**Status:** ready",
  "**Status:** ready  ",
  "**Status:** in-progress",
  "**Status:** done",
  "**Status:** blocked",
  "**Status:**",
  "  **Status:** ready",
  "**Started:** 2026-03-28T09:00",
  "**Completed:** 2026-03-28T09:30",
  "**Priority:** high",
  "Progress: 1 of 2 done",
  "- 2026-03-28T10:15 noted",
  "",
  "",
  "   ",
  "\u00A0",
  "Text",
  "```",
  "```js",
  "~~~~",
  "<!-- open",
  "-->",
  "<!-- cortex:last-tick 2026-03-28T09:00 -->",
  "Text <!-- cortex:last-tick 2026-03-28T09:00 -->",
  "<!-- shuttle:last-tick 2026-03-28T09:00 -->",
);
const lineEnds = fc.constantFrom("\n", "\n", "\n", "\r\n");
const lines = fc.array(fc.tuple(fc.oneof({ weight: 9, arbitrary: fragments }, fc.string()), lineEnds));
const files = fc
  .tuple(
    fc.constantFrom("", "\uFEFF"),
    lines,
    fc.constantFrom("", "Text", "**Status:** ready", "## A", "```\r"),
  )
  .map(([bom, made, last]) => bom + made.flat().join("") + last);

const ODD = Array.from("#`~*<!->: \t\r\n\0\u2028\uD83Dé日A");
const texts = fc.oneof(
  fc.string(),
  fc.array(fragments).map((some) => some.join("\n")),
  fc.string({ unit: fc.constantFrom(...ODD) }),
);
const refs = fc.record({
  title: fc.constantFrom("A", "B", "C", ""),
  ordinal: fc.integer({ min: 1, max: 3 }),
});
const stamps = fc.constantFrom(STAMP, "2026-03-28T11:00");
const edits: fc.Arbitrary<TaskEdit> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), title: fc.constantFrom("A", "B", "New"), body: texts }),
  fc.record({ kind: fc.constant("claim" as const), task: refs, stamp: stamps }),
  fc.record({ kind: fc.constant("complete" as const), task: refs, stamp: stamps, summary: texts }),
  fc.record({ kind: fc.constant("note" as const), task: refs, stamp: stamps, text: texts }),
  fc.record({ kind: fc.constant("progress" as const), task: refs, text: texts }),
  fc.record({ kind: fc.constant("tick" as const), stamp: stamps }),
  fc.record({ kind: fc.constant("remove" as const), tasks: fc.array(refs, { minLength: 1, maxLength: 2 }) }),
);

const RUNS = { numRuns: 1_000 };

/** The text after the edit; the same one where it is refused. */
function tried(text: string, edit: TaskEdit): string {
  try {
    return applyTaskEdit(text, edit);
  } catch (error) {
    if (error instanceof CortexError && ["task_unknown", "state_conflict"].includes(error.code)) return text;
    throw error;
  }
}

test("any text is read, and each task stands in the line that it names", () => {
  fc.assert(
    fc.property(fc.oneof(files, fc.string({ unit: fc.constantFrom(...ODD) })), (text) => {
      const lines = text.split("\n");
      for (const task of readTasks(text).tasks) {
        const heading = lines[task.line - 1]!.replace("\uFEFF", "");
        expect(heading).toMatch(/^##(?:\s|$)/);
        expect(heading.slice(2).trim()).toBe(task.title);
        expect(task.text.startsWith(heading)).toBe(true);
      }
    }),
    RUNS,
  );
});

test("an edit made twice is made once", () => {
  fc.assert(
    fc.property(files, edits, (text, edit) => {
      const settled = settleTaskEdit(text, edit);
      const once = tried(text, settled);
      fc.pre(once !== text);
      expect(isTaskEditDone(once, settled)).toBe(true);
      expect(applyTaskEdit(once, settled)).toBe(once);
    }),
    RUNS,
  );
});

const NOTHING = /^(?!)/;
const ANYTHING = /^/;
const BLANK = /^\s*$/;

/** Lines that an edit may take out and put in. The comments of ticks do not count where it is about them. */
const MAY: Readonly<Record<TaskEdit["kind"], readonly [out: RegExp, into: RegExp]>> = {
  add: [NOTHING, ANYTHING],
  claim: [/^\s*\*\*(?:Status|Started):/, /^$|^\s*\*\*(?:Status|Started):/],
  complete: [/^\s*\*\*(?:Status|Completed):/, ANYTHING],
  note: [NOTHING, /^$|^### Progress$|^- 2026-/],
  progress: [/^Progress:/, /^$|^Progress:/],
  tick: [NOTHING, BLANK],
  remove: [ANYTHING, /^\s*$|last-tick/],
};

test("an edit leaves every line as it is that it need not change", () => {
  fc.assert(
    fc.property(files, edits, (text, edit) => {
      const after = tried(text, settleTaskEdit(text, edit));
      const shown = (some: string): string[] => {
        const plain = edit.kind === "tick" ? some.replaceAll(/<!-- cortex:last-tick \S+ -->/g, "") : some;
        return plain.replace("\uFEFF", "").split(/\r*\n|\r+$/);
      };
      const [out, into] = MAY[edit.kind];
      expect(onlyIn(shown(text), shown(after)).filter((line) => line !== "" && !out.test(line))).toEqual([]);
      expect(onlyIn(shown(after), shown(text)).filter((line) => !into.test(line))).toEqual([]);
    }),
    RUNS,
  );
});

test("there is one tick after a tick, and it is at the end", () => {
  fc.assert(
    fc.property(files, stamps, (text, stamp) => {
      const { tick, problems } = readTasks(applyTaskEdit(text, { kind: "tick", stamp }));
      expect(tick?.stamp).toBe(stamp);
      expect(problems.filter(({ rule }) => rule.startsWith("tick-"))).toEqual([]);
    }),
    RUNS,
  );
});

test("an edit of one task leaves all others as they are", () => {
  fc.assert(
    fc.property(files, edits, (text, edit) => {
      fc.pre(edit.kind !== "remove");
      const before = readTasks(text).tasks;
      const after = readTasks(tried(text, edit)).tasks;
      expect(after).toHaveLength(before.length + (edit.kind === "add" ? 1 : 0));
      const isOther = ({ title, ordinal }: Task): boolean =>
        !("task" in edit) || edit.task.title !== title || edit.task.ordinal !== ordinal;
      const others = (tasks: readonly Task[]): string[] =>
        tasks.slice(0, before.length).flatMap((task) => (isOther(task) ? [task.text.trimEnd()] : []));
      expect(others(after)).toEqual(others(before));
    }),
    RUNS,
  );
});

const RANK = { ready: 0, "in-progress": 1, done: 2 };

test("whatever is done to a file, no status ever goes back", () => {
  const kept = edits.filter(({ kind }) => kind !== "remove");
  fc.assert(
    fc.property(files, fc.array(kept), (text, some) => {
      const ranks = (now: string): (number | undefined)[] =>
        readTasks(now).tasks.map(({ status }) => status && RANK[status]);
      let now = text;
      for (const edit of some) {
        const before = ranks(now);
        now = tried(now, edit);
        const after = ranks(now);
        expect(
          before.filter((rank, at) => (rank === undefined ? after[at] !== undefined : !(after[at]! >= rank))),
        ).toEqual([]);
      }
    }),
  );
});

test("only what is done is taken out, and nothing else goes with it", () => {
  fc.assert(
    fc.property(files, fc.array(refs), (text, tasks) => {
      const before = readTasks(text).tasks.filter(({ status }) => status !== "done");
      const after = readTasks(tried(text, { kind: "remove", tasks })).tasks;
      const left = after.filter(({ status }) => status !== "done");
      expect(left.map((task) => task.text)).toEqual(before.map((task) => task.text));
    }),
    RUNS,
  );
});

/** With how often each of them occurs. */
function onlyIn(lines: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count <= 0;
  });
}
