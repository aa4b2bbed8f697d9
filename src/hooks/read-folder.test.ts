import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { readFolder } from "./read-folder.ts";

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
