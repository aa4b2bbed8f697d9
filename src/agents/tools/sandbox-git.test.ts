import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { findSandbox } from "../../../test/support/sandbox.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { callTool, testWorkspace } from "../../../test/support/tool-context.ts";
import type { ToolContext, ToolResult } from "../../model/tool.ts";
import { bashTool } from "./bash.ts";
import { writeTool } from "./write.ts";
import { guardGit, MAX_SEARCHED_FOLDERS, MAX_REPOSITORY_DEPTH } from "./sandbox-git.ts";

const sandbox = await findSandbox("what commands in the sandbox can change of git");

const IDENTITY = "-c user.name=Ann -c user.email=ann@example.com".split(" ");

function git(folder: string, ...args: readonly string[]): string {
  const env = { PATH: process.env["PATH"], HOME: "/nowhere" };
  return execFileSync("git", [...IDENTITY, ...args], { cwd: folder, env, encoding: "utf8" }).trim();
}

function makeRepository(folder: string, ...args: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "--quiet", "--initial-branch=main", ...args);
  git(folder, "commit", "--quiet", "--allow-empty", "--message=start");
}

async function bash(context: ToolContext, command: string): Promise<ToolResult> {
  return callTool(bashTool, { command }, context);
}

async function guarded(root: string, readOnly: readonly string[] = []) {
  const guard = await guardGit({ writable: [root], closed: [], readOnly });
  const paths = guard.mounts.map(
    ({ at, words }) => `${words[0] === "--bind" ? "rw" : "ro"} ${at.slice(root.length + 1)}`,
  );
  return { paths: paths.toSorted(), settle: () => guard[Symbol.asyncDispose]() };
}

const REPOSITORY = ["ro config", "ro config.worktree", "ro hooks", "ro info/attributes", "rw info"];
const inFolder = (folder: string): string[] => REPOSITORY.map((line) => line.replace(" ", ` ${folder}/`));

test("what decides on programs is guarded, with all folders above it", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  makeRepository(join(root, "a/project"));

  const { paths } = await guarded(root);

  expect(paths).toEqual(
    ["rw a", "rw a/project", "rw a/project/.git", ...inFolder("a/project/.git")].toSorted(),
  );
  expect(readFileSync(join(root, "a/project/.git/config.worktree"), "utf8")).toBe("");
  expect(git(join(root, "a/project"), "status", "--porcelain")).toBe("");
});

test("bare repositories, linked work trees, submodules and `.git` files are found", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  git(root, "init", "--quiet", "--bare", "bare");
  makeRepository(join(root, "main"));
  git(join(root, "main"), "worktree", "add", "--quiet", join(root, "side"));
  makeRepository(join(root, "apart"), `--separate-git-dir=${join(root, "kept")}`);
  git(root, "init", "--quiet", "--bare", "main/.git/modules/deep/lib");

  const { paths } = await guarded(root);

  for (const each of ["bare", "main/.git", "kept", "main/.git/modules/deep/lib"])
    expect(paths).toEqual(expect.arrayContaining(inFolder(each)));
  const tree = "main/.git/worktrees/side";
  expect(paths).toEqual(
    expect.arrayContaining([
      "ro apart/.git",
      "ro side/.git",
      ...["commondir", "config.worktree", "gitdir"].map((name) => `ro ${tree}/${name}`),
    ]),
  );
});

test("a repository that Cortex uses, one with links in it, and one with its settings elsewhere are read-only", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  for (const name of ["ours", "linked", "tampered"]) makeRepository(join(root, name));
  execFileSync("rm", ["-rf", join(root, "linked/.git/hooks")]);
  symlinkSync("../hooks", join(root, "linked/.git/hooks"));
  writeFileSync(join(root, "tampered/.git/commondir"), "../elsewhere\n");

  expect((await guarded(root, [join(root, "ours/.git")])).paths).toEqual([
    ...["linked", "ours", "tampered"].map((name) => `ro ${name}/.git`),
    ...["linked", "ours", "tampered"].map((name) => `rw ${name}`),
  ]);
});

test("what is inside a git directory, and given as a folder, is read-only", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  makeRepository(root);
  expect((await guarded(join(root, ".git/hooks"))).paths).toEqual(["ro "]);
});

test("a folder without repositories is left as it is, and a large one is not searched for ever", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  const deep = Array.from({ length: MAX_REPOSITORY_DEPTH + 1 }, (_, i) => `d${i}`).join("/");
  mkdirSync(join(root, deep, ".git"), { recursive: true });
  mkdirSync(join(root, "node_modules/x/.git"), { recursive: true });
  expect((await guarded(root)).paths).toEqual([]);
  for (let i = 0; i <= MAX_SEARCHED_FOLDERS; i++) mkdirSync(join(root, `a${i}`));
  mkdirSync(join(root, "z/.git"), { recursive: true });
  expect((await guarded(root)).paths).toEqual([]);
});

test("what another command could swap for a link meanwhile is not mounted", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  makeRepository(join(root, "old"));
  const first = await guarded(root);
  makeRepository(join(root, "new"));
  const second = await guarded(root);
  const inside = await guarded(join(root, "new"));
  expect(second.paths).toEqual(first.paths);
  expect(inside.paths).toEqual([]);
  writeFileSync(join(root, "old/.git/commondir"), "../../new/.git\n");
  await first.settle();
  expect(existsSync(join(root, "old/.git/commondir"))).toBe(false);
  expect((await guarded(root)).paths).toEqual(first.paths);
  writeFileSync(join(root, "old/.git/commondir"), "../../new/.git\n");
  await second.settle();
  expect(existsSync(join(root, "old/.git/commondir"))).toBe(false);
});

test("where no other command can write, everything is guarded", async () => {
  using folder = temporaryFolder();
  const root = realpathSync(folder.path);
  makeRepository(join(root, "theirs/a"));
  makeRepository(root);
  const theirs = await guarded(join(root, "theirs"));
  makeRepository(join(root, "theirs/b"));
  const ours = await guarded(root);
  expect(ours.paths).toEqual(
    expect.arrayContaining([...inFolder(".git"), ...inFolder("theirs/a/.git"), "rw theirs"]),
  );
  expect(ours.paths.filter((path) => path.includes("theirs/b"))).toEqual([]);
  await theirs.settle();
  await ours.settle();
  const { paths } = await guarded(root);
  expect(paths).toEqual(expect.arrayContaining(inFolder("theirs/b/.git")));
});

describe.skipIf(sandbox === undefined)("in the sandbox", () => {
  test("an agent commits, branches, stashes and packs in its own project", async () => {
    using files = testWorkspace({ sandbox });
    const { workspace } = files.context;
    makeRepository(workspace);
    const as = `git ${IDENTITY.join(" ")}`;

    const { text, isError } = await bash(
      files.context,
      `set -e; echo 1 > a; git add a; ${as} commit -qm first; git switch -qc side; echo 2 > a; ${as} commit -qam second;
       echo 3 > a; ${as} stash -q; ${as} stash pop -q; git checkout -q a; git switch -q main; ${as} merge -q side;
       ${as} tag -a v1 -m v1; git gc -q; git worktree add -q /tmp/tree; git log --format=%s`,
    );

    expect({ text, isError }).toEqual({ text: "second\nfirst\nstart", isError: false });
    expect(git(workspace, "log", "--format=%s")).toBe("second\nfirst\nstart");
    expect(git(workspace, "fsck", "--no-dangling")).toBe("");
  });

  test.each([
    "echo '[core] fsmonitor = evil' >> .git/config",
    "git config core.fsmonitor evil",
    "echo evil > .git/config.worktree",
    "mkdir -p .git/hooks && echo evil > .git/hooks/post-commit",
    "echo '* filter=x' > .git/info/attributes",
    "mv .git/info .git/aside && mkdir .git/info && echo x > .git/info/attributes",
    "mv .git/hooks .git/aside",
    "rm -f .git/config; cp /etc/hosts .git/config",
    "mv .git aside; mkdir .git && touch .git/config",
    "chmod u+w .git/config; echo evil > .git/config",
    "mount -o remount,rw .git/config; echo evil > .git/config",
    "echo evil > sub/nested/.git/config",
    "mv sub aside && mkdir -p sub/nested/.git && echo evil > sub/nested/.git/config",
    "mv sub/nested aside && mkdir -p sub/nested/.git && echo evil > sub/nested/.git/config",
    "ln -sf /etc/hosts .git/config",
    "mv .git/worktrees aside && mkdir -p .git/worktrees/tree && echo / > .git/worktrees/tree/commondir",
    "echo / > .git/worktrees/tree/commondir",
    "echo 'gitdir: /tmp' > tree/.git",
    "rm tree/.git; echo 'gitdir: /tmp' > tree/.git",
  ])("what git will run stays as it was: %s", async (command) => {
    using files = testWorkspace({ sandbox });
    const { workspace } = files.context;
    makeRepository(workspace);
    makeRepository(join(workspace, "sub/nested"));
    git(workspace, "worktree", "add", "--quiet", "tree");
    const guardedFiles = [
      ".git/config",
      "sub/nested/.git/config",
      ".git/worktrees/tree/commondir",
      "tree/.git",
    ].map((name) => join(workspace, name));
    const before = guardedFiles.map((path) => readFileSync(path, "utf8"));

    expect(await bash(files.context, command)).toMatchObject({ isError: true });

    expect(guardedFiles.map((path) => readFileSync(path, "utf8"))).toEqual(before);
    for (const name of ["config.worktree", "info/attributes"])
      expect(readFileSync(join(workspace, ".git", name), "utf8")).toBe("");
    expect(existsSync(join(workspace, ".git/hooks/post-commit"))).toBe(false);
  });

  test("that the settings are elsewhere is taken back when the command has ended", async () => {
    using files = testWorkspace({ sandbox });
    const { workspace } = files.context;
    makeRepository(workspace);
    const marks = join(workspace, "marks");
    await bash(
      files.context,
      `mkdir evil && cp -r .git/objects .git/refs .git/HEAD evil && echo ../evil > .git/commondir &&
       printf '[core]\\n\\tfsmonitor = "touch ${marks}; false"\\n' > evil/config`,
    );
    git(workspace, "status");
    expect(existsSync(join(workspace, ".git/commondir"))).toBe(false);
    expect(existsSync(marks)).toBe(false);
  });

  test("a command that takes a repository apart leaves it guarded for the next one", async () => {
    using files = testWorkspace({ sandbox });
    const { workspace } = files.context;
    git(workspace, "init", "--quiet", "--bare", "bare");
    makeRepository(join(workspace, "main"));
    git(join(workspace, "main"), "worktree", "add", "--quiet", join(workspace, "side"));
    git(workspace, "init", "--quiet", "--bare", "main/.git/modules/lib");
    const apart = ["bare", "main/.git", "main/.git/modules/lib", "main/.git/worktrees/side"];
    const decisive = [...apart.slice(0, 3).map((folder) => `${folder}/config`), `${apart[3]}/commondir`];
    const read = () => decisive.map((path) => readFileSync(join(workspace, path), "utf8"));
    const before = read();

    await bash(files.context, `rm -rf ${apart.join(" ")}`);
    expect(existsSync(join(workspace, "bare/HEAD"))).toBe(false);
    const replanting = decisive.map((path) => `echo evil > ${path}`).join("; ");
    await bash(files.context, `${replanting}; rm -rf ${decisive.join(" ")}`);

    expect(read()).toEqual(before);
    await expect(
      callTool(writeTool, { path: "bare/config", content: "evil" }, files.context),
    ).rejects.toThrow("git directory");
  });

  test("a repository that Cortex uses can be read and not changed", async () => {
    using files = testWorkspace({ sandbox });
    const { workspace } = files.context;
    makeRepository(workspace);
    const context = {
      ...files.context,
      sandbox: { ...sandbox!, readOnly: () => Promise.resolve([join(workspace, ".git")]) },
    };

    expect((await bash(context, "git log --format=%s")).text).toBe("start");
    expect(await bash(context, `git ${IDENTITY.join(" ")} commit --allow-empty -m x`)).toMatchObject({
      isError: true,
    });
    expect(await bash(context, "touch .git/x")).toMatchObject({ isError: true });
    expect(git(workspace, "log", "--format=%s")).toBe("start");
  });
});
