import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import {
  appendPrivate,
  readMountedBytes,
  readPrivate,
  requireOwnFile,
  requireOwnFolder,
  writePrivate,
} from "./private-file.ts";

test("a file of one's own is read", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "token");
  writePrivate(path, "secret");
  expect(readPrivate(path)).toBe("secret");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a link is not followed, wherever it leads, and neither is a pipe waited for", () => {
  using folder = temporaryFolder();
  const [target, link, pipe] = ["target", "link", "pipe"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(target, "somebody else's");
  symlinkSync(target, link);
  execFileSync("mkfifo", [pipe]);
  mkdirSync(join(folder.path, "folder"));
  for (const path of [link, pipe, join(folder.path, "folder")])
    expect(() => readPrivate(path)).toThrow(expect.objectContaining({ code: "file_unsafe" }));
  expect(() => readPrivate(join(folder.path, "missing"))).toThrow(
    expect.objectContaining({ code: "ENOENT" }),
  );
});

test("writing replaces a link and leaves alone what it leads to", () => {
  using folder = temporaryFolder();
  const [target, link] = [join(folder.path, "target"), join(folder.path, "link")];
  writeFileSync(target, "theirs");
  symlinkSync(target, link);
  writePrivate(link, "ours");
  expect([readFileSync(target, "utf8"), readPrivate(link)]).toEqual(["theirs", "ours"]);
});

test("nothing is added to a file behind a link", () => {
  using folder = temporaryFolder();
  const [target, link] = [join(folder.path, "target"), join(folder.path, "link")];
  writeFileSync(target, "theirs");
  symlinkSync(target, link);
  expect(() => appendPrivate(link, "ours")).toThrow(expect.objectContaining({ code: "file_unsafe" }));
  expect(readFileSync(target, "utf8")).toBe("theirs");
  appendPrivate(join(folder.path, "own"), "a");
  appendPrivate(join(folder.path, "own"), "b");
  expect(readPrivate(join(folder.path, "own"))).toBe("ab");
});

test("a mounted secret is a link to a file that only its owner writes", () => {
  using folder = temporaryFolder();
  const [target, link] = [join(folder.path, "target"), join(folder.path, "link")];
  writeFileSync(target, "A=b", { mode: 0o640 });
  symlinkSync(target, link);
  expect(readMountedBytes(link).toString()).toBe("A=b");
  chmodSync(target, 0o660);
  expect(() => readMountedBytes(link)).toThrow(expect.objectContaining({ code: "file_unsafe" }));
  expect(readMountedBytes(target).toString()).toBe("A=b");
});

test("a file or folder that another library is to open is looked at first", () => {
  using folder = temporaryFolder();
  const [file, link] = [join(folder.path, "file"), join(folder.path, "link")];
  writeFileSync(file, "");
  symlinkSync(folder.path, link);
  requireOwnFile(file);
  requireOwnFile(join(folder.path, "missing"));
  requireOwnFolder(folder.path);
  requireOwnFolder(join(folder.path, "missing"));
  for (const path of [link, folder.path])
    expect(() => requireOwnFile(path)).toThrow(expect.objectContaining({ code: "file_unsafe" }));
  for (const path of [link, file])
    expect(() => requireOwnFolder(path)).toThrow(expect.objectContaining({ code: "file_unsafe" }));
});
