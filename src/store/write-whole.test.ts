import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { writeWhole } from "./write-whole.ts";

test("a file is replaced as a whole", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "file");
  writeFileSync(path, "before");
  await writeWhole(path, "after");
  expect(readFileSync(path, "utf8")).toBe("after");
  expect(readdirSync(folder.path)).toEqual(["file"]);
});

test("where it cannot be, nothing is left beside it", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "file");
  mkdirSync(path);
  await expect(writeWhole(path, "after")).rejects.toMatchObject({ code: expect.stringMatching(/^E/) });
  expect(readdirSync(folder.path)).toEqual(["file"]);
});
