import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { memoryParent, temporaryFolder } from "../../../test/support/temporary.ts";
import { MAX_HASHED_BYTES, readWatched } from "./read-file.ts";

test("a file is read with its hash, as sha256sum has it", async () => {
  using folder = temporaryFolder();
  const path = join(realpathSync(folder.path), "a.txt");
  writeFileSync(path, "Grüße");
  const sha256 = execFileSync("sha256sum", [path], { encoding: "utf8" }).slice(0, 64);
  expect(await readWatched(path, 100)).toMatchObject({ size: 7, text: "Grüße", sha256 });
  expect(await readWatched(path, 6)).toMatchObject({ size: 7, text: null, sha256 });
});

test("a folder that has become a link meanwhile leads nowhere", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  mkdirSync(join(root, "outside"));
  writeFileSync(join(root, "outside", "a.txt"), "secret");
  symlinkSync("outside", join(root, "inside"));
  symlinkSync("outside/a.txt", join(root, "link.txt"));
  expect(await readWatched(join(root, "inside", "a.txt"), 100)).toBeUndefined();
  expect(await readWatched(join(root, "link.txt"), 100)).toBeUndefined();
  expect(await readWatched(join(root, "nothing.txt"), 100)).toBeUndefined();
  expect(await readWatched(join(root, "outside"), 100)).toBeUndefined();
});

test("of a very large file, the beginning is hashed", async () => {
  using folder = temporaryFolder(memoryParent());
  const path = join(realpathSync(folder.path), "large");
  writeFileSync(path, "");
  truncateSync(path, MAX_HASHED_BYTES);
  const whole = await readWatched(path, 0);
  truncateSync(path, MAX_HASHED_BYTES + 1);
  const larger = await readWatched(path, 0);
  expect(larger!.size).toBe(whole!.size + 1);
  expect(larger!.sha256).toBe(whole!.sha256);
});
