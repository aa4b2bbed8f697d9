import { readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { forgetFiles, keepFile, readKeptFile } from "./kept-files.ts";

test("a file that no row names is forgotten, unless it is so young that its row may be on its way", async () => {
  using folder = temporaryFolder();
  const keep = (text: string): Promise<string> => keepFile(folder.path, Buffer.from(text));
  const [named, old, young, again] = [
    await keep("named"),
    await keep("old"),
    await keep("young"),
    await keep("again"),
  ];
  for (const hash of [named, old, again]) utimesSync(join(folder.path, hash), 1, 1);
  await keep("again"); // what is kept once more counts as new
  expect(await forgetFiles(folder.path, (hash) => hash === named, 60_000)).toBe(1);
  expect(readdirSync(folder.path).toSorted()).toEqual([named, young, again].toSorted());
});

test("half a file is none, and is written again", async () => {
  using folder = temporaryFolder();
  const hash = await keepFile(folder.path, Buffer.from("whole"));
  writeFileSync(join(folder.path, hash), "who");
  expect(await readKeptFile(folder.path, hash)).toBeUndefined();
  await keepFile(folder.path, Buffer.from("whole"));
  expect((await readKeptFile(folder.path, hash))?.toString()).toBe("whole");
});

test("a link in place of the folder is refused: nothing is written there, and nothing removed", async () => {
  using folder = temporaryFolder();
  using elsewhere = temporaryFolder();
  writeFileSync(join(elsewhere.path, "theirs"), "");
  const link = join(folder.path, "attachments");
  symlinkSync(elsewhere.path, link);
  const refused = expect.objectContaining({ code: "file_unsafe" });
  await expect(keepFile(link, Buffer.from("a"))).rejects.toEqual(refused);
  await expect(forgetFiles(link, () => false)).rejects.toEqual(refused);
  expect(readdirSync(elsewhere.path)).toEqual(["theirs"]);
});
