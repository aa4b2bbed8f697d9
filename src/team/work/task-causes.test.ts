import { expect, test } from "vitest";

import type { EventId } from "../../model/ids.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { causeOfTask, MAX_TASK_CAUSES, MISSING_TASK_MS, withCause, withoutCause } from "./task-causes.ts";
import { gistOf } from "../markdown/task-gist.ts";

const NOTHING = { tasks: [] };
const because = (gist: string, event: string, atMs = 0) => ({ gist, event: event as EventId, atMs });

test("of tasks that ask for the same, each has the cause that it was dispatched with", () => {
  let state = withCause({}, because("g", "a"), NOTHING);
  state = withCause(state, because("g", "b"), NOTHING);
  expect(causeOfTask("g", state)).toBe("a");
  state = withoutCause(state, "g");
  expect(causeOfTask("g", state)).toBe("b");
  state = withoutCause(state, "g");
  expect(causeOfTask("g", state)).toBeUndefined();
  expect(withoutCause(state, "g")).toBe(state);
});

test("the cause of a task that is missing from its file is forgotten in time, and that of one that waits is not", () => {
  const file = readTasks("## Wait\n**Status:** ready\n\nLong.\n");
  const waiting = gistOf(file.tasks[0]!);
  let state = withCause({}, because(waiting, "a"), NOTHING);
  state = withCause(state, because("gone", "b"), NOTHING);
  state = withCause(state, because("next", "c", MISSING_TASK_MS - 1), file);
  expect(causeOfTask("gone", state)).toBe("b");
  state = withCause(state, because("last", "d", MISSING_TASK_MS), file);
  expect(causeOfTask("gone", state)).toBeUndefined();
  expect(causeOfTask(waiting, state)).toBe("a");
});

test("of more causes than are remembered, the newest are", () => {
  let state = {};
  for (let count = 0; count <= MAX_TASK_CAUSES; count++)
    state = withCause(state, because(`g${count}`, "a"), NOTHING);
  expect(causeOfTask("g0", state)).toBeUndefined();
  expect(causeOfTask("g1", state)).toBe("a");
  expect(causeOfTask(`g${MAX_TASK_CAUSES}`, state)).toBe("a");
});
