import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { DAY_MS } from "../../model/durations.ts";
import { type TeamFileState, readState } from "./file-state.ts";
import { keepSnapshot, MAX_SNAPSHOT_BYTES, SNAPSHOT_DAYS, snapshotPaths, Snapshots } from "./snapshots.ts";

const NOW_MS = Date.parse("2026-03-28T10:15:00.123Z");

function testSnapshots() {
  const folder = temporaryFolder();
  const file = join(folder.path, "tasks.md");
  const snapshots = new Snapshots(folder.path, "agents/dev/tasks.md");
  const write = (text: string): TeamFileState => {
    writeFileSync(file, text);
    return readState(file, "tasks.md")!;
  };
  return {
    root: folder.path,
    snapshots,
    take: (text: string, nowMs: number) => {
      const path = snapshots.next(write(text), nowMs);
      writeFileSync(path, text);
      return path;
    },
    file,
    write,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

test("a snapshot is named for its time and for what it holds", () => {
  using files = testSnapshots();
  const path = files.take("One.\n", NOW_MS);
  expect(path).toMatch(/\.cortex\/snapshots\/agents\/dev\/tasks\.md\/20260328T101500123Z-[0-9a-f]{8}$/);
  expect(files.snapshots.list()).toMatchObject([{ path: "agents/dev/tasks.md", atMs: NOW_MS, file: path }]);
  expect(snapshotPaths(files.root)).toEqual(["agents/dev/tasks.md"]);
});

test("those of the same moment, or of a clock that was set back, keep their order", () => {
  using files = testSnapshots();
  for (const [text, atMs] of [
    ["a", NOW_MS],
    ["b", NOW_MS],
    ["c", NOW_MS - DAY_MS],
  ] as const)
    files.take(text, atMs);
  expect(files.snapshots.list().map(({ file }) => readFileSync(file, "utf8"))).toEqual(["a", "b", "c"]);
});

test("it is the file itself, so that what is written to it late is found", async () => {
  using files = testSnapshots();
  const state = files.write("One.\n");
  const path = files.snapshots.next(state, NOW_MS);
  expect(keepSnapshot(files.file, path)).toBe(true);
  const { name } = files.snapshots.list()[0]!;
  expect(await files.snapshots.stray(name, state, NOW_MS)).toBeUndefined();

  writeFileSync(files.file, "One, and more.\n");
  expect(await files.snapshots.stray(name, state, NOW_MS)).toMatchObject({ text: "One, and more.\n" });
});

test(`those of more than ${SNAPSHOT_DAYS} days ago go`, () => {
  using files = testSnapshots();
  const old = files.take("old", NOW_MS - SNAPSHOT_DAYS * DAY_MS - 1);
  const young = files.take("young", NOW_MS - SNAPSHOT_DAYS * DAY_MS + 1_000);
  for (let count = 0; count < 20; count++) files.take(`new ${count}`, NOW_MS);
  expect([old, young].map((path) => existsSync(path))).toEqual([false, true]);
});

test("of one file at most 64 MB are kept, the newest ones", () => {
  using files = testSnapshots();
  const large = Array.from({ length: 3 }, (_, count) => files.take(`large ${count}`, NOW_MS + count));
  for (const path of large) truncateSync(path, MAX_SNAPSHOT_BYTES / 2 - 100); // holes take no room on the disk
  for (let count = 0; count < 20; count++) files.take("x", NOW_MS + 10 + count);
  expect(large.map((path) => existsSync(path))).toEqual([false, true, true]);
});

test("what others put there is left alone", () => {
  using files = testSnapshots();
  const path = files.take("One.\n", NOW_MS);
  writeFileSync(join(path, "../notes.txt"), "");
  writeFileSync(join(path, "../20269999T999999999Z-00000000"), "");
  expect(files.snapshots.list()).toHaveLength(1);
});
