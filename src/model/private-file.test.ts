import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { readPrivate, writePrivate } from "./private-file.ts";

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
