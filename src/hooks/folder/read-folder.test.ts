import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { MAX_HOOK_FILE_BYTES, MAX_HOOK_FILES, readFolder } from "./read-folder.ts";

const HOOK = "export default () => ({ fire: false });";

test("only hooks are taken for hooks", async () => {
  using folder = temporaryFolder();
  const files = {
    "a.ts": `/** @name A\n * @mode one-shot */\n${HOOK}`,
    "b.mjs": HOOK,
    "c.d.ts": HOOK,
    "c.test.ts": HOOK,
    "package.json": "{}",
    "relay.ts": "console.log(1);",
    ".d.ts.new": HOOK,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  mkdirSync(join(folder.path, "folder.ts"));
  const { scripts } = await readFolder(folder.path);
  expect(
    scripts.map(({ file, isLoadable }) => ({
      name: file.name,
      title: file.title,
      mode: file.mode,
      isLoadable,
    })),
  ).toEqual([
    { name: "a", title: "A", mode: "one-shot", isLoadable: true },
    { name: "b", title: undefined, mode: "persistent", isLoadable: true },
  ]);
});

test("what is wrong with a file is said without loading it", async () => {
  using folder = temporaryFolder();
  const files = {
    "Two Words.ts": HOOK,
    "mode.ts": `/** @mode sometimes */\n${HOOK}`,
    "twice.js": HOOK,
    "twice.ts": HOOK,
    "unfinished.ts": `/** @mode one-shot */`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  const { scripts } = await readFolder(folder.path);
  expect(scripts.map(({ file, isLoadable }) => [file.name, isLoadable, file.error])).toEqual([
    ["Two Words", false, expect.stringContaining("Invalid hook name")],
    ["mode", false, expect.stringContaining('"sometimes"')],
    ["twice", false, "Two files have this name: twice.ts"],
    ["unfinished", false, expect.stringContaining("No default export")],
  ]);
});

test("a file that is too large or cannot be read is told of, and the others are read", async () => {
  using folder = temporaryFolder();
  const padded = (bytes: number): string => HOOK + " ".repeat(bytes - HOOK.length);
  writeFileSync(join(folder.path, "fits.ts"), padded(MAX_HOOK_FILE_BYTES));
  writeFileSync(join(folder.path, "large.ts"), padded(MAX_HOOK_FILE_BYTES + 1));
  symlinkSync("circle.ts", join(folder.path, "circle.ts"));
  const { scripts } = await readFolder(folder.path);
  expect(scripts.map(({ file, isLoadable }) => [file.name, isLoadable, file.error])).toEqual([
    ["circle", false, expect.stringContaining("Cannot be read: ELOOP")],
    ["fits", true, undefined],
    ["large", false, `Larger than ${MAX_HOOK_FILE_BYTES} bytes`],
  ]);
});

test("of too many files, the first that is not read says so", async () => {
  using folder = temporaryFolder();
  for (let i = 0; i < MAX_HOOK_FILES + 2; i++)
    writeFileSync(join(folder.path, `h${String(i).padStart(5, "0")}.js`), "");
  const { scripts } = await readFolder(folder.path);
  expect(scripts.map(({ file }) => [file.name, file.error])).toEqual([
    [`h0${MAX_HOOK_FILES}`, `Not read: the folder has more than ${MAX_HOOK_FILES} scripts`],
  ]);
});

test("the digest is that of all scripts, because hooks import from one another", async () => {
  using folder = temporaryFolder();
  const missing = await readFolder(join(folder.path, "nowhere"));
  expect(missing.scripts).toEqual([]);
  writeFileSync(join(folder.path, "beside.ts"), "export const x = 1;");
  const before = await readFolder(folder.path);
  writeFileSync(join(folder.path, "beside.ts"), "export const x = 2;");
  const after = await readFolder(folder.path);
  expect(new Set([missing.digest, before.digest, after.digest]).size).toBe(3);
});
