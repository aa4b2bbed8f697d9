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
  const { hooks } = await readFolder(folder.path);
  expect(
    hooks.map(({ file, isLoadable }) => ({
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
  const { hooks } = await readFolder(folder.path);
  expect(hooks.map(({ file, isLoadable }) => [file.name, isLoadable, file.error])).toEqual([
    ["Two Words", false, expect.stringContaining("is no name for a hook")],
    ["mode", false, expect.stringContaining('"sometimes"')],
    ["twice", false, "twice.ts is one of two files of this name"],
    ["unfinished", false, expect.stringContaining("no default export")],
  ]);
});

test("a file that is too large or cannot be read is told of, and the others are read", async () => {
  using folder = temporaryFolder();
  const padded = (bytes: number): string => HOOK + " ".repeat(bytes - HOOK.length);
  writeFileSync(join(folder.path, "fits.ts"), padded(MAX_HOOK_FILE_BYTES));
  writeFileSync(join(folder.path, "large.ts"), padded(MAX_HOOK_FILE_BYTES + 1));
  symlinkSync("circle.ts", join(folder.path, "circle.ts"));
  const { hooks } = await readFolder(folder.path);
  expect(hooks.map(({ file, isLoadable }) => [file.name, isLoadable, file.error])).toEqual([
    ["circle", false, expect.stringContaining("It cannot be read: ELOOP")],
    ["fits", true, undefined],
    ["large", false, `It has more than ${MAX_HOOK_FILE_BYTES} bytes`],
  ]);
});

test("of too many files, the first that is not read says so", async () => {
  using folder = temporaryFolder();
  for (let i = 0; i < MAX_HOOK_FILES + 2; i++)
    writeFileSync(join(folder.path, `h${String(i).padStart(5, "0")}.js`), "");
  const { hooks } = await readFolder(folder.path);
  expect(hooks.map(({ file }) => [file.name, file.error])).toEqual([
    [`h0${MAX_HOOK_FILES}`, `It is not read, because a folder has at most ${MAX_HOOK_FILES} scripts`],
  ]);
});

test("the digest is that of all scripts, because hooks import from one another", async () => {
  using folder = temporaryFolder();
  const missing = await readFolder(join(folder.path, "nowhere"));
  expect(missing.hooks).toEqual([]);
  writeFileSync(join(folder.path, "beside.ts"), "export const x = 1;");
  const before = await readFolder(folder.path);
  writeFileSync(join(folder.path, "beside.ts"), "export const x = 2;");
  const after = await readFolder(folder.path);
  expect(new Set([missing.digest, before.digest, after.digest]).size).toBe(3);
});
