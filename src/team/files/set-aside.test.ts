import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { readTasks } from "../markdown/read-tasks.ts";
import { MAX_REMOVED_TASKS, REMOVED_FILE, setAside } from "./set-aside.ts";

const add = (title: string) => ({ kind: "add" as const, title, ordinal: 2, body: "Do it.\n\n## Not a task" });

test("a task is kept as it was dispatched, once, with a status that nobody takes for work", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, REMOVED_FILE);
  setAside(path, REMOVED_FILE, [add("One")]);
  setAside(path, REMOVED_FILE, [add("One"), add("Two")]);
  const { tasks } = readTasks(readFileSync(path, "utf8"));
  expect(tasks.map(({ title, statusText }) => [title, statusText])).toEqual([
    ["One", "removed"],
    ["Two", "removed"],
  ]);
  expect(tasks[0]!.body).toBe("Do it.\n\n### Not a task");
});

test("what people wrote there stays", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, REMOVED_FILE);
  writeFileSync(path, "My own words.\n");
  setAside(path, REMOVED_FILE, [add("One")]);
  expect(readFileSync(path, "utf8")).toMatch(/^My own words\.\n\n## One\n/);
});

test("no more are kept than people look through", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, REMOVED_FILE);
  const many = Array.from({ length: MAX_REMOVED_TASKS }, (_, at) => add(`Task ${at}`));
  setAside(path, REMOVED_FILE, many);
  expect(() => setAside(path, REMOVED_FILE, [add("One too many")])).toThrow(
    `more than ${MAX_REMOVED_TASKS} tasks`,
  );
  expect(readTasks(readFileSync(path, "utf8")).tasks).toHaveLength(MAX_REMOVED_TASKS);
});

test("a link in its place is not followed", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, REMOVED_FILE);
  symlinkSync(join(folder.path, "elsewhere"), path);
  expect(() => setAside(path, REMOVED_FILE, [add("One")])).toThrow("Cannot read");
  expect(existsSync(join(folder.path, "elsewhere"))).toBe(false);
  rmSync(path);
});
