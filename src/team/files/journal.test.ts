import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { EditJournal, type EditRecord, MAX_JOURNAL_BYTES } from "./journal.ts";

const PATH = "agents/dev/tasks.md";

function entry(atMs: number, block?: string): EditRecord {
  return { atMs, hash: `hash ${atMs}`, bytes: 1, block };
}

test("what was written down is read again", () => {
  using folder = temporaryFolder();
  expect(new EditJournal(folder.path, PATH).last()).toBeUndefined();
  new EditJournal(folder.path, PATH).append([entry(1), entry(2)]);
  new EditJournal(folder.path, PATH).append([entry(3)]);

  const journal = new EditJournal(folder.path, PATH);
  expect(journal.entries().map(({ atMs }) => atMs)).toEqual([1, 2, 3]);
  expect(journal.last()).toEqual(entry(3));
});

test("it does not grow for ever: the newest half stays", () => {
  using folder = temporaryFolder();
  const block = "x".repeat(MAX_JOURNAL_BYTES / 16);
  for (let count = 1; count <= 40; count++) new EditJournal(folder.path, PATH).append([entry(count, block)]);

  const file = join(folder.path, ".cortex/journal", `${PATH}.jsonl`);
  expect(statSync(file).size).toBeLessThanOrEqual(MAX_JOURNAL_BYTES);
  const times = new EditJournal(folder.path, PATH).entries().map(({ atMs }) => atMs);
  expect(times.length).toBeGreaterThan(4);
  expect(times).toEqual(Array.from(times, (_, index) => 40 - times.length + 1 + index));
  expect(readdirSync(join(file, ".."))).toEqual(["tasks.md.jsonl"]);
});

test("one entry is kept, however large", () => {
  using folder = temporaryFolder();
  new EditJournal(folder.path, PATH).append([entry(1), entry(2, "x".repeat(2 * MAX_JOURNAL_BYTES))]);
  expect(new EditJournal(folder.path, PATH).entries().map(({ atMs }) => atMs)).toEqual([2]);
  new EditJournal(folder.path, PATH).append([entry(3)]);
  expect(new EditJournal(folder.path, PATH).entries().map(({ atMs }) => atMs)).toEqual([3]);
  expect(readFileSync(join(folder.path, ".cortex/.gitignore"), "utf8")).toBe("*\n");
});
