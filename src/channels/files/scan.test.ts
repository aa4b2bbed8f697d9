import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { scanFolder } from "./scan.ts";

const ALL = { include: ["**"], exclude: [] };

test("of a folder with too many files or folders, as many as there may be are watched, and this is said", async () => {
  using folder = temporaryFolder();
  for (const name of ["a", "b", "c"]) {
    mkdirSync(join(folder.path, name));
    writeFileSync(join(folder.path, name, "file"), name);
  }
  const scan = async (files: number, folders: number) => {
    const found = await scanFolder(folder.path, ALL, { files, folders });
    return [found.files.size, found.folders.length, found.problems.length];
  };
  expect(await scan(3, 4)).toEqual([3, 4, 0]);
  expect(await scan(2, 4)).toEqual([2, 4, 1]);
  expect(await scan(3, 3)).toEqual([2, 3, 1]);
});

test("files are found with their size and time, by path", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "a"), "four");
  const { files } = await scanFolder(folder.path, ALL);
  const modifiedMs = expect.any(Number) as number;
  expect([...files]).toEqual([[join(folder.path, "a"), { size: 4, modifiedMs }]]);
});
