import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import {
  compareFolders,
  FolderHashes,
  hasFile,
  MAX_HASHED_BYTES,
  MAX_HASHED_DEPTH,
  MAX_HASHED_ENTRIES,
  MAX_KEPT_FOLDERS,
  sha256OfFolder,
} from "./folder-hash.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

function write(folder: string, path: string, text = "x"): string {
  const place = join(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
  return place;
}

test("a folder's hash is that of its files, with kind, content and path", async () => {
  using folder = temporaryFolder();
  chmodSync(write(folder.path, "bin/run.sh", "echo"), 0o755);
  write(folder.path, "a-b", "1");
  write(folder.path, "a/b", "2");
  symlinkSync("../a-b", join(folder.path, "a", "link"));
  mkdirSync(join(folder.path, "empty"));
  const files = [
    `file ${sha256("1")} a-b`,
    `file ${sha256("2")} a/b`,
    `link ${sha256("../a-b")} a/link`,
    `program ${sha256("echo")} bin/run.sh`,
  ];
  expect(await sha256OfFolder(folder.path)).toEqual({ files, sha256: sha256(JSON.stringify(files)) });
});

test("a copy has the same hash, wherever it is and however old it is", async () => {
  using folder = temporaryFolder();
  using other = temporaryFolder();
  for (const { path } of [folder, other]) write(path, "a/b");
  utimesSync(join(other.path, "a/b"), 1, 1);
  const link = join(other.path, "..", `${other.path.split("/").at(-1)}-link`);
  symlinkSync(other.path, link);
  expect(await sha256OfFolder(link)).toEqual(await sha256OfFolder(folder.path));
  renameSync(link, join(other.path, "link")); // goes with the folder
});

test.each<readonly [string, (folder: string) => void]>([
  ["content", (folder) => write(folder, "a/b", "y")],
  ["a new file", (folder) => write(folder, "c")],
  ["a name", (folder) => renameSync(join(folder, "a/b"), join(folder, "a/c"))],
  ["the right to run it", (folder) => chmodSync(join(folder, "a/b"), 0o755)],
])("%s changes the hash, also of a folder that was hashed a moment ago", async (_, change) => {
  using folder = temporaryFolder();
  const hashes = new FolderHashes();
  write(folder.path, "a/b");
  const before = await hashes.of(folder.path);
  expect(await hashes.of(folder.path)).toBe(before);
  change(folder.path);
  expect((await hashes.of(folder.path)).sha256).not.toBe(before.sha256);
  expect(await hashes.of(folder.path)).toEqual(await sha256OfFolder(folder.path));
});

test("a change of the same length that keeps the file's time is found", async () => {
  using folder = temporaryFolder();
  const hashes = new FolderHashes();
  const path = write(folder.path, "a", "1");
  utimesSync(path, 1_000_000, 1_000_000);
  const before = await hashes.of(folder.path);
  writeFileSync(path, "2");
  utimesSync(path, 1_000_000, 1_000_000);
  expect((await hashes.of(folder.path)).sha256).not.toBe(before.sha256);
});

test("names cannot be chosen so that two folders look the same", async () => {
  using one = temporaryFolder();
  using two = temporaryFolder();
  write(one.path, `a\nfile ${sha256("x")} b`);
  write(two.path, "a");
  write(two.path, "b");
  expect((await sha256OfFolder(one.path)).sha256).not.toBe((await sha256OfFolder(two.path)).sha256);
});

test("the folder's own .git does not count, and others and a file of that name do", async () => {
  using folder = temporaryFolder();
  write(folder.path, ".git/index");
  write(folder.path, "a/.git/index");
  expect((await sha256OfFolder(folder.path)).files.map((line) => line.split(" ")[2])).toEqual([
    "a/.git/index",
  ]);
  using worktree = temporaryFolder();
  write(worktree.path, ".git", "gitdir: x");
  symlinkSync(".git", join(worktree.path, "link"));
  expect((await sha256OfFolder(worktree.path)).files).toHaveLength(2);
});

test.each<readonly [string, (folder: string) => void, string]>([
  [
    "a link out of it",
    (folder) => symlinkSync("/etc/hostname", join(folder, "l")),
    "l is a symbolic link out of",
  ],
  ["a link to nothing", (folder) => symlinkSync("nothing", join(folder, "l")), "l is a symbolic link out of"],
  [
    "a link that only seems to stay inside",
    (folder) => {
      mkdirSync(join(folder, "sub"));
      symlinkSync("..", join(folder, "sub", "up"));
      symlinkSync("sub/up/..", join(folder, "out"));
    },
    "out is a symbolic link out of",
  ],
  [
    "a link to a file in its .git",
    (folder) => {
      write(folder, ".git/run.sh");
      symlinkSync(".git/run.sh", join(folder, "run.sh"));
    },
    "run.sh is a symbolic link into its .git",
  ],
  [
    "a link to its .git through another folder",
    (folder) => {
      write(folder, ".git/index");
      mkdirSync(join(folder, "sub"));
      symlinkSync("../.git", join(folder, "sub", "l"));
    },
    "sub/l is a symbolic link into its .git",
  ],
  ["a pipe", (folder) => execFileSync("mkfifo", [join(folder, "p")]), "p is neither a file nor a folder"],
])("a folder with %s has no hash", async (_, spoil, why) => {
  using folder = temporaryFolder();
  write(folder.path, "a");
  spoil(folder.path);
  await expect(sha256OfFolder(folder.path)).rejects.toMatchObject({
    code: "file_unsafe",
    message: expect.stringContaining(why),
  });
});

test("a link that is turned away from the folder after the first time is found", async () => {
  using folder = temporaryFolder();
  const hashes = new FolderHashes();
  mkdirSync(join(folder.path, "a"));
  write(folder.path, "a/b");
  symlinkSync("a/b", join(folder.path, "l"));
  await hashes.of(folder.path);
  renameSync(join(folder.path, "a"), join(folder.path, "c"));
  await expect(hashes.of(folder.path)).rejects.toThrow("l is a symbolic link out of");
});

test("a folder that is not there has no hash", async () => {
  await expect(sha256OfFolder("/nowhere/at/all")).rejects.toMatchObject({ code: "file_unsafe" });
});

test("files, bytes and depth have limits", async () => {
  using folder = temporaryFolder();
  for (let at = 0; at < MAX_HASHED_ENTRIES; at++) writeFileSync(join(folder.path, `f${at}`), "");
  expect((await sha256OfFolder(folder.path)).files).toHaveLength(MAX_HASHED_ENTRIES);
  write(folder.path, "one-more");
  await expect(sha256OfFolder(folder.path)).rejects.toThrow(`more than ${MAX_HASHED_ENTRIES} files`);

  using deep = temporaryFolder();
  mkdirSync(join(deep.path, ...Array.from({ length: MAX_HASHED_DEPTH }, () => "d")), { recursive: true });
  expect((await sha256OfFolder(deep.path)).files).toEqual([]);
  mkdirSync(join(deep.path, ...Array.from({ length: MAX_HASHED_DEPTH + 1 }, () => "d")));
  await expect(sha256OfFolder(deep.path)).rejects.toThrow(`more than ${MAX_HASHED_DEPTH} folders deep`);

  using large = temporaryFolder();
  truncateSync(write(large.path, "sparse"), MAX_HASHED_BYTES);
  write(large.path, "one-more");
  await expect(sha256OfFolder(large.path)).rejects.toThrow("more than 128 MiB");
});

test("how many folders are remembered has a limit", async () => {
  using folder = temporaryFolder();
  const hashes = new FolderHashes();
  write(folder.path, "first/a");
  const first = join(folder.path, "first");
  const before = await hashes.of(first);
  for (let at = 1; at < MAX_KEPT_FOLDERS; at++) {
    mkdirSync(join(folder.path, `f${at}`));
    await hashes.of(join(folder.path, `f${at}`));
  }
  expect(await hashes.of(first)).toBe(before); // and is now the youngest
  for (let at = 0; at < MAX_KEPT_FOLDERS; at++) {
    mkdirSync(join(folder.path, `g${at}`));
    await hashes.of(join(folder.path, `g${at}`));
  }
  expect(await hashes.of(first)).not.toBe(before);
});

test("two folders are compared by path", async () => {
  using folder = temporaryFolder();
  write(folder.path, "same");
  write(folder.path, "with space/changed");
  write(folder.path, "removed");
  const before = await sha256OfFolder(folder.path);
  write(folder.path, "with space/changed", "y");
  write(folder.path, "added");
  renameSync(join(folder.path, "removed"), join(folder.path, "moved"));
  const after = await sha256OfFolder(folder.path);
  expect(compareFolders(before.files, after.files)).toEqual({
    added: ["added", "moved"],
    changed: ["with space/changed"],
    removed: ["removed"],
  });
  expect(hasFile(before.files, "with space/changed")).toBe(true);
  expect(hasFile(before.files, "changed")).toBe(false);
});

test("the folder of an installed package can be hashed", async () => {
  const commander = fileURLToPath(new URL("../../node_modules/commander", import.meta.url));
  expect(await sha256OfFolder(commander)).toEqual(await sha256OfFolder(commander));
});
