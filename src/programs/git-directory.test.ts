import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { gitDirectoryOf, repositoryOf } from "./git-directory.ts";

/** Files by their paths; those that end in / are folders. */
function make(files: Readonly<Record<string, string>>) {
  const folder = temporaryFolder();
  const root = realpathSync(folder.path);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(path.endsWith("/") ? join(root, path) : dirname(join(root, path)), { recursive: true });
    if (!path.endsWith("/")) writeFileSync(join(root, path), text);
  }
  const at = (path: string): string => join(root, path);
  return { at, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

const gitFolder = (at: string) => ({
  [`${at}/HEAD`]: "",
  [`${at}/objects/`]: "",
  [`${at}/refs/`]: "",
});

test("a git directory is known by its name, by what is in it, and by what would be", () => {
  using files = make({ ...gitFolder("bare"), "half/HEAD": "", "half/refs/": "", "notes/HEAD": "" });
  const of = (path: string): string | undefined => gitDirectoryOf(files.at(path));
  expect(of("a/.git/hooks/x")).toBe(files.at("a/.git"));
  expect(of(".GIT")).toBe(files.at(".GIT"));
  expect(of("bare/config")).toBe(files.at("bare"));
  expect(of("bare/hooks/deep/x")).toBe(files.at("bare"));
  expect(of("half/objects/info/x")).toBe(files.at("half"));
  expect(of("notes/commondir")).toBe(files.at("notes"));
});

test("other files with such names are no git directories", () => {
  using files = make({ "half/HEAD": "", "half/refs/": "", "a-file": "" });
  for (const path of [
    "half/config",
    "notes/HEAD",
    ".gitignore",
    ".gitattributes",
    ".github/x",
    "git/config",
    "a-file/x",
  ])
    expect([path, gitDirectoryOf(files.at(path))]).toEqual([path, undefined]);
});

test("the repository of a folder is found above it, behind a file or a link, and through a linked work tree", () => {
  using files = make({
    ...gitFolder("repo/.git"),
    "repo/team/agents/": "",
    "repo/.git/worktrees/side/HEAD": "",
    "repo/.git/worktrees/side/commondir": "../..\n",
    "side/.git": "gitdir: ../repo/.git/worktrees/side\n",
    ...gitFolder("kept"),
    "apart/.git": "gitdir: ../kept\n",
    "linked/": "",
    "none/": "",
  });
  symlinkSync("../kept", files.at("linked/.git"));
  const of = (path: string): readonly string[] => repositoryOf(files.at(path));
  expect(of("repo/team/agents")).toEqual([files.at("repo/.git")]);
  expect(of("apart")).toEqual([files.at("kept")]);
  expect(of("linked")).toEqual([files.at("kept")]);
  expect(of("side")).toEqual([files.at("repo/.git/worktrees/side"), files.at("repo/.git")]);
  expect(of("none")).toEqual([]);
  expect(of("missing")).toEqual([]);
});
