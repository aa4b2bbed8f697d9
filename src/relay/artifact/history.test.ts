import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { forgetArtifacts, keepArtifact, readKept } from "./artifact.ts";

test("equal contents are kept once, and are read by their hash", async () => {
  using home = temporaryFolder();
  const [one, two] = [await keepArtifact(home.path, "a\n"), await keepArtifact(home.path, "a\n")];
  expect(two).toBe(one);
  expect(await readKept(home.path, one)).toBe("a\n");
  expect(readdirSync(join(home.path, "data", "artifacts"))).toEqual([one]);
});

test("what is not kept, or is no hash, is not there", async () => {
  using home = temporaryFolder();
  expect(await readKept(home.path, "0".repeat(64))).toBeUndefined();
  expect(await readKept(home.path, "../../config/.env")).toBeUndefined();
});

test("a content that is not what it was is not there, and is written again", async () => {
  using home = temporaryFolder();
  const hash = await keepArtifact(home.path, "whole");
  writeFileSync(join(home.path, "data", "artifacts", hash), "who");
  expect(await readKept(home.path, hash)).toBeUndefined();
  await keepArtifact(home.path, "whole");
  expect(await readKept(home.path, hash)).toBe("whole");
});

test("what nobody names is forgotten, and what was left half written too", async () => {
  using home = temporaryFolder();
  const [kept, old] = [await keepArtifact(home.path, "kept"), await keepArtifact(home.path, "old")];
  writeFileSync(join(home.path, "data", "artifacts", `.${old}-x`), "ol");
  await forgetArtifacts(home.path, (hash) => hash === kept);
  expect(readdirSync(join(home.path, "data", "artifacts"))).toEqual([kept]);
  using empty = temporaryFolder();
  await forgetArtifacts(empty.path, () => false);
});
