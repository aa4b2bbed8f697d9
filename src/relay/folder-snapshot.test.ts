import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { memoryParent, temporaryFolder } from "../../test/support/temporary.ts";
import { renderDiffs } from "./changes.ts";
import { MAX_DIFFED_CHARACTERS } from "./file-changes.ts";
import { compareSnapshots, snapshotFolder } from "./folder-snapshot.ts";

/** What a folder's changes are, with paths relative to it. */
async function changesBy(prepare: (folder: string) => void, change: (folder: string) => void) {
  using folder = temporaryFolder(memoryParent());
  prepare(folder.path);
  const before = await snapshotFolder(folder.path);
  change(folder.path);
  const changes = await compareSnapshots(before, await snapshotFolder(folder.path));
  return changes.map(({ path, shown }) => ({ path: path.slice(folder.path.length + 1), shown }));
}

const write = (name: string, content: string | Buffer) => (folder: string) =>
  writeFileSync(join(folder, name), content);

test("a folder that stays as it is has no changes", async () => {
  expect(await changesBy(write("a", "1"), () => {})).toEqual([]);
});

test("files that are new, different or gone are found, also in folders", async () => {
  const changes = await changesBy(
    (folder) => {
      mkdirSync(join(folder, "sub"));
      write("sub/changed", "one\n")(folder);
      write("gone", "old\n")(folder);
      write("same", "same\n")(folder);
    },
    (folder) => {
      write("sub/changed", "two\n")(folder);
      write("new", "new\n")(folder);
      rmSync(join(folder, "gone"));
    },
  );
  expect(changes.map(({ path }) => path)).toEqual(["gone", "new", "sub/changed"]);
  expect(renderDiffs(changes)).toMatch(/-old\n.*\+new\n.*-one\n\+two\n/s);
});

test("binary files are named only", async () => {
  expect(await changesBy(() => {}, write("a.png", Buffer.from([1, 0, 2])))).toEqual([
    { path: "a.png", shown: { kind: "unavailable", why: "binary" } },
  ]);
});

test("files that are too large are named only, and told apart by size and time", async () => {
  const grow = (size: number) => (folder: string) => truncateSync(join(folder, "log"), size);
  const create = (folder: string) => {
    write("log", "")(folder);
    grow(MAX_DIFFED_CHARACTERS + 1)(folder);
  };
  expect(await changesBy(create, grow(MAX_DIFFED_CHARACTERS + 2))).toEqual([
    { path: "log", shown: { kind: "unavailable", why: "too large" } },
  ]);
});

test("links are named and not followed", async () => {
  expect(
    await changesBy(
      () => {},
      (folder) => symlinkSync("/etc/passwd", join(folder, "link")),
    ),
  ).toEqual([{ path: "link", shown: { kind: "unavailable", why: "a link" } }]);
});

test("folders that tools fill are left out", async () => {
  const fill = (folder: string) => {
    mkdirSync(join(folder, ".git"));
    mkdirSync(join(folder, "node_modules"));
    write(".git/index", "x")(folder);
    write("node_modules/x.js", "x")(folder);
  };
  expect(await changesBy(() => {}, fill)).toEqual([]);
});

test("a folder that is not there has nothing in it", async () => {
  expect(await snapshotFolder("/nonexistent")).toEqual(new Map());
});

test("files beyond the limit are not looked at, and texts beyond it not kept", async () => {
  using folder = temporaryFolder(memoryParent());
  for (const name of ["a", "b", "c"]) write(name, "12345")(folder.path);
  const files = await snapshotFolder(folder.path, { maxFiles: 2, maxCharacters: 9 });
  expect([...files.values()]).toMatchObject([{ text: "12345" }, { text: undefined, whyNoText: "too large" }]);
});
