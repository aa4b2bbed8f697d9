import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { gitText, parseConfigList, readUserSettings, runGit } from "./git.ts";
import { requireHarmlessConfig } from "./git-config.ts";

const { PATH } = process.env;

function makeRepository(folder: string): void {
  execFileSync("git", ["init", "--quiet", folder], { env: { PATH, HOME: "/nowhere" } });
}

test("git has no variable of ours that is not on the list", async () => {
  using folder = temporaryFolder();
  const program = join(folder.path, "git");
  writeFileSync(program, "#!/bin/sh\nenv\n");
  chmodSync(program, 0o755);
  const environment = {
    PATH: `${folder.path}:${PATH}`,
    HOME: "/home/ann",
    ANTHROPIC_API_KEY: "sk-1",
    GIT_SSH_COMMAND: "evil",
    GIT_DIR: "/elsewhere",
    LD_PRELOAD: "evil.so",
  };

  const printed = await gitText({ folder: folder.path, environment }, ["status"]);

  const names = printed.split("\n").map((line) => line.slice(0, line.indexOf("=")));
  expect(names.filter((name) => !/^(PATH|HOME|LC_ALL|PWD|OLDPWD|SHLVL|_|GIT_.*)$/.test(name))).toEqual([]);
  expect(printed).not.toContain("evil");
  expect(printed).not.toContain("elsewhere");
  expect(printed).toContain("HOME=/dev/null");
});

test("what a repository sets is not run, also where nobody has looked at it before", async () => {
  using folder = temporaryFolder();
  const { path } = folder;
  makeRepository(path);
  const [marks, trap] = [join(path, "marks"), join(path, "trap")];
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> '${marks}'\n`);
  chmodSync(trap, 0o755);
  writeFileSync(
    join(path, ".git/config"),
    `[core]\n\tfsmonitor = ${trap}\n\thooksPath = ${path}\n\tpager = ${trap}\n\teditor = ${trap}\n\tsshCommand = ${trap}\n` +
      `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${trap}\n[credential]\n\thelper = ${trap}\n` +
      `[remote "origin"]\n\turl = ssh://example.invalid/x\n\tuploadpack = ${trap}\n`,
  );
  for (const name of ["pre-commit", "post-index-change", "post-commit"])
    writeFileSync(join(path, name), readFileSync(trap), { mode: 0o755 });
  const place = { folder: path, environment: { PATH } };
  const identity = { name: "Ann", email: "ann@example.com" };

  await runGit(place, ["add", "trap"]);
  await runGit(place, ["status"]);
  await runGit(place, ["commit", "--message=x"], { identity });
  await expect(runGit(place, ["fetch", "origin"])).rejects.toThrow("not allowed");
  await runGit(place, ["log"]);

  expect(existsSync(marks)).toBe(false);
});

test("of the user's own settings, who they are and which folders are safe is known", async () => {
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, ".gitconfig"),
    "[user]\n\tname = Ann\n\temail = ann@example.com\n[safe]\n\tdirectory = ~/team\n[core]\n\teditor = vi\n[init]\n\tdefaultBranch = trunk\n",
  );
  const HOME = folder.path;

  expect(await readUserSettings({ environment: { PATH, HOME } })).toEqual({
    identity: { name: "Ann", email: "ann@example.com" },
    passedOn: [`safe.directory=${HOME}/team`, "init.defaultbranch=trunk"],
  });
  expect(await readUserSettings({ environment: { PATH, HOME: "/nowhere" } })).toEqual({
    identity: undefined,
    passedOn: [],
  });
});

test("a key without a value, and a value of several lines, are read as git lists them", () => {
  expect(parseConfigList("core.bare\0a.b=c.d\nx\ny\0")).toEqual([
    { key: "core.bare", value: undefined },
    { key: "a.b=c.d", value: "x\ny" },
  ]);
});

const HARMLESS = `
[core]
  repositoryformatversion = 0
  filemode
  autocrlf = input
  fsmonitor = true
  untrackedCache = true
[user]
  name = Ann
[remote "origin"]
  url = git@example.com:ann/team.git
  fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
  remote = origin
  merge = refs/heads/main
[commit]
  gpgSign = true
[alias]
  st = status
[submodule "lib"]
  url = ../lib
  active = true
[pull]
  rebase = true
`;

test("the settings that most repositories have are harmless", async () => {
  expect(await problemOf(HARMLESS)).toBeUndefined();
});

test.each([
  ["core.fsmonitor", "[core]\n\tfsmonitor = evil\n"],
  ["core.fsmonitor", "[CORE]\n\tFsMonitor = evil\n"],
  ["core.hookspath", "[core]\n\thooksPath = .hooks\n"],
  ["core.askpass", "[core]\n\taskPass = evil\n"],
  ["pager.log", "[pager]\n\tlog = evil\n"],
  ["sequence.editor", "[sequence]\n\teditor = evil\n"],
  ["filter.lfs.process", '[filter "lfs"]\n\tprocess = git-lfs\n'],
  ["diff.a.b.command", '[diff "a.b"]\n\tcommand = evil\n'],
  ["gpg.ssh.program", '[gpg "ssh"]\n\tprogram = evil\n'],
  ["gpg.ssh.defaultkeycommand", '[gpg "ssh"]\n\tdefaultKeyCommand = evil\n'],
  ["gc.recentobjectshook", "[gc]\n\trecentObjectsHook = evil\n"],
  ["trailer.x.cmd", '[trailer "x"]\n\tcmd = evil\n'],
  ["uploadpack.packobjectshook", "[uploadpack]\n\tpackObjectsHook = evil\n"],
  ["url.ext::sh -c evil.insteadof", '[url "ext::sh -c evil"]\n\tinsteadOf = https://\n'],
  ["remote.origin.vcs", '[remote "origin"]\n\tvcs = evil\n'],
  ["unheard.of", "[unheard]\n\tof = x\n"],
])("the setting %s is refused", async (key, text) => {
  expect(await problemOf(`${HARMLESS}${text}`)).toContain(`sets ${key}, which can run a program`);
});

async function problemOf(config: string): Promise<string | undefined> {
  using folder = temporaryFolder();
  const gitFolder = join(folder.path, ".git");
  makeRepository(folder.path);
  writeFileSync(join(gitFolder, "config"), config);
  const place = { folder: folder.path, environment: { PATH } };
  return await requireHarmlessConfig(place, { gitFolder, commonFolder: gitFolder }).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
}
