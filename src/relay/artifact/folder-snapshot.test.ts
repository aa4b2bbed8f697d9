import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { memoryParent, temporaryFolder } from "../../../test/support/temporary.ts";
import { MAX_SHOWN_FILES, renderDiffs } from "./changes.ts";
import { MAX_DIFFED_CHARACTERS } from "../../model/compare-texts.ts";
import { compareSnapshots, type SnapshotLimits, snapshotFolders } from "./folder-snapshot.ts";

const LIMITS: SnapshotLimits = { maxFiles: 100, maxCharacters: 1_000, maxMs: 1_000 };

const look = (folder: string, limits?: SnapshotLimits, clock = () => 0) =>
  snapshotFolders({ folders: [folder] }, clock, limits);

/** What a folder's changes are, with paths relative to it. */
async function changesBy(prepare: (folder: string) => void, change: (folder: string) => void) {
  using folder = temporaryFolder(memoryParent());
  prepare(folder.path);
  const before = await look(folder.path);
  change(folder.path);
  const changes = await compareSnapshots(before, await look(folder.path));
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
  expect(await look("/nonexistent")).toEqual({ files: new Map(), isWhole: true });
});

test("texts beyond the limit are not kept", async () => {
  using folder = temporaryFolder(memoryParent());
  for (const name of ["a", "b"]) write(name, "12345")(folder.path);
  const { files } = await look(folder.path, { ...LIMITS, maxCharacters: 9 });
  expect([...files.values()]).toMatchObject([{ text: "12345" }, { whyNoText: "too large" }]);
});

test("files beyond a limit, of their number or of time, are not looked at", async () => {
  using folder = temporaryFolder(memoryParent());
  for (const name of ["a", "b", "c"]) write(name, "1")(folder.path);
  let now = 0;
  const few = await look(folder.path, { ...LIMITS, maxFiles: 2 });
  const slow = await look(folder.path, { ...LIMITS, maxMs: 25 }, () => (now += 10));
  for (const { files, isWhole } of [few, slow]) expect([files.size, isWhole]).toEqual([2, false]);
});

test("a file that was not looked at is neither new nor gone", async () => {
  using folder = temporaryFolder(memoryParent());
  for (const name of ["b", "c"]) write(name, "1")(folder.path);
  const limits = { ...LIMITS, maxFiles: 2 };
  const before = await look(folder.path, limits);
  write("a", "1")(folder.path);
  write("b", "2")(folder.path);
  const after = await look(folder.path, limits); // finds a and b
  // Nobody knows whether c is gone; and the other way round, whether it is new.
  for (const changes of [await compareSnapshots(before, after), await compareSnapshots(after, before)])
    expect(changes.map(({ path }) => path.at(-1))).toEqual(["a", "b"]);
});

test("a file of two folders is looked at once, and folders can be left out", async () => {
  using folder = temporaryFolder(memoryParent());
  for (const name of ["own", "data"]) {
    mkdirSync(join(folder.path, name));
    write(`${name}/file`, "1")(folder.path);
  }
  const own = join(folder.path, "own");
  const { files } = await snapshotFolders(
    { folders: [own, folder.path], without: [join(folder.path, "data")] },
    () => 0,
  );
  expect([...files.keys()]).toEqual([join(own, "file")]);
});

test("of very many changes the first are compared, and all are named", async () => {
  const changes = await changesBy(
    () => {},
    (folder) => {
      for (let i = 0; i <= MAX_SHOWN_FILES; i++) write(`file-${i}`, "1")(folder);
    },
  );
  expect(changes).toHaveLength(MAX_SHOWN_FILES + 1);
  expect(changes.filter(({ shown }) => shown.kind === "unavailable")).toMatchObject([
    { shown: { why: "too many changes" } },
  ]);
});
