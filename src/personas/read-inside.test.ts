import { appendFileSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { makePipe } from "../../test/support/tool-context.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { foldersIn, MAX_KEPT_FILES, readInside } from "./read-inside.ts";

const MAX = 100;

function twoFolders(): Disposable & { readonly inside: string; readonly outside: string } {
  const folder = temporaryFolder();
  const [inside, outside] = ["inside", "outside"].map((name) => join(folder.path, name));
  mkdirSync(inside!);
  mkdirSync(outside!);
  writeFileSync(join(outside!, "secret.md"), "the secret");
  return { inside: inside!, outside: outside!, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

test("a file is read as it is, and one that is not there is absent", async () => {
  using folders = twoFolders();
  writeFileSync(join(folders.inside, "a.md"), "Grüße\n");
  expect(await readInside("a.md", folders.inside, MAX)).toMatchObject({
    text: "Grüße\n",
    size: 8,
    isCut: false,
  });
  expect(await readInside("b.md", folders.inside, MAX)).toEqual({ kind: "absent" });
  expect(await readInside("a.md/b.md", folders.inside, MAX)).toEqual({ kind: "absent" });
});

test("a change counts from the next time, also one of the same length", async () => {
  using folders = twoFolders();
  const path = join(folders.inside, "a.md");
  writeFileSync(path, "one");
  const first = await readInside("a.md", folders.inside, MAX);
  expect(await readInside("a.md", folders.inside, MAX)).toBe(first);

  writeFileSync(`${path}.new`, "two");
  renameSync(`${path}.new`, path);
  expect(await readInside("a.md", folders.inside, MAX)).toMatchObject({ text: "two" });
  appendFileSync(path, " and three");
  expect(await readInside("a.md", folders.inside, MAX)).toMatchObject({ text: "two and three" });
});

test("of a long file only the beginning is read, in whole characters", async () => {
  using folders = twoFolders();
  writeFileSync(join(folders.inside, "a.md"), `x${"🧠".repeat(1_000_000)}`);
  const read = await readInside("a.md", folders.inside, MAX);
  expect(read).toMatchObject({ isCut: true, size: 4_000_001 });
  const { text } = read as { text: string };
  expect(text.length).toBe(MAX);
  expect(text.isWellFormed()).toBe(true);
});

test("a link inside is followed, and one out of the folder is not", async () => {
  using folders = twoFolders();
  writeFileSync(join(folders.inside, "a.md"), "mine");
  symlinkSync("a.md", join(folders.inside, "b.md"));
  symlinkSync(join(folders.outside, "secret.md"), join(folders.inside, "c.md"));
  symlinkSync(folders.outside, join(folders.inside, "d"));
  symlinkSync("nowhere", join(folders.inside, "e.md"));
  symlinkSync("f.md", join(folders.inside, "f.md"));

  expect(await readInside("b.md", folders.inside, MAX)).toMatchObject({ text: "mine" });
  for (const name of ["c.md", "d/secret.md"]) {
    expect(await readInside(name, folders.inside, MAX)).toMatchObject({
      kind: "refused",
      reason: expect.stringMatching(/^is a symbolic link out of .*inside and is not followed$/),
    });
  }
  expect(await readInside("e.md", folders.inside, MAX)).toEqual({ kind: "absent" });
  expect(await readInside("f.md", folders.inside, MAX)).toMatchObject({ reason: "cannot be read (ELOOP)" });
});

test("a file that was read and then swapped for a link out of the folder is not read again", async () => {
  using folders = twoFolders();
  const path = join(folders.inside, "a.md");
  writeFileSync(path, "mine");
  await readInside("a.md", folders.inside, MAX);
  symlinkSync(join(folders.outside, "secret.md"), `${path}.new`);
  renameSync(`${path}.new`, path);
  expect(await readInside("a.md", folders.inside, MAX)).toMatchObject({ kind: "refused" });
});

test("what is no text, or no file at all, is refused and nothing waits for it", async () => {
  using folders = twoFolders();
  mkdirSync(join(folders.inside, "folder.md"));
  makePipe(join(folders.inside, "pipe.md"));
  writeFileSync(join(folders.inside, "binary.md"), "a\0b");
  for (const [name, reason] of [
    ["folder.md", "is not a file"],
    ["pipe.md", "is not a file"],
    ["binary.md", "is not a text file"],
  ] as const) {
    expect(await readInside(name, folders.inside, MAX)).toEqual({ kind: "refused", reason });
  }
});

test("what is kept has a bound", async () => {
  using folders = twoFolders();
  writeFileSync(join(folders.inside, "a.md"), "one");
  const first = await readInside("a.md", folders.inside, MAX);
  writeFileSync(join(folders.inside, "b.md"), "b");
  for (let length = 1; length <= MAX_KEPT_FILES; length++) await readInside("b.md", folders.inside, length);
  expect(await readInside("a.md", folders.inside, MAX)).toEqual(first);
  expect(await readInside("a.md", folders.inside, MAX)).not.toBe(first);
});

test("folders come in the order of their names, and a folder that is not there has none", async () => {
  using folders = twoFolders();
  for (const name of ["b", "a"]) mkdirSync(join(folders.inside, name));
  symlinkSync(folders.outside, join(folders.inside, "c"));
  writeFileSync(join(folders.inside, "file"), "");
  expect(await foldersIn(folders.inside)).toEqual(["a", "b", "c"]);
  expect(await foldersIn(join(folders.inside, "nowhere"))).toEqual([]);
});
