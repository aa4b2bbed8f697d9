/**
 * Whoever can write to a repository decides what git runs there. Cortex runs git itself, to keep the history of a team:
 * nothing that an agent, or whoever talks to it, puts there may run, let alone with the keys of Cortex.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { PATIENT } from "../support/server.ts";
import { member } from "../support/team-directory.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { teamHome } from "../support/team-home.ts";
import { findSandbox } from "../support/sandbox.ts";
import { answerTo, entry, plays, resultsOf } from "../support/workers.ts";
import { call, orderText } from "./attack.ts";
import { forbiddenEffects, waitForEnd } from "./carry-out.ts";
import { openScene } from "./scene.ts";

const OLD =
  "## Old\n**Status:** done\n**Started:** 2020-03-01T10:00\n**Completed:** 2020-03-01T11:00\n\nLong ago.\n";
const GIT = { PATH: process.env["PATH"], HOME: "/nowhere" };
const KEY = "sk-canary-of-the-owner";

const sandbox = await findSandbox("what commands can change of the team's repository");

function git(folder: string, ...args: readonly string[]): string {
  const identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"];
  return execFileSync("git", [...identity, ...args], { cwd: folder, env: GIT, encoding: "utf8" }).trim();
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A repository with a done task that housekeeping takes out. */
function makeRepository(team: string): void {
  git(team, "init", "--quiet", "--initial-branch=main");
  git(team, "add", "--all");
  git(team, "commit", "--quiet", "--message=start");
}

/** A program that tells that it was run, and with what. */
function trap(folder: string): { readonly program: string; readonly marks: string } {
  const [program, marks] = [join(folder, "trap"), join(folder, "marks")];
  writeFileSync(program, `#!/bin/sh\n(echo ran; env) >> '${marks}'\ncat\n`);
  chmodSync(program, 0o755);
  return { program, marks };
}

test("a paired stranger gets nothing run by what an agent writes into the team's repository", async () => {
  using folder = temporaryFolder();
  const { program, marks } = trap(folder.path);
  const config = `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ${program}\n`;
  await using scene = await openScene({
    sandbox: "required",
    cortex: { agents: { main: {}, keeper: { workspace: "team" } } },
    path: process.env["PATH"],
    prepare(home) {
      for (const [path, text] of Object.entries(member("dev", { tasks: OLD, log: "" })))
        write(join(home, "team", path), text);
      writeFileSync(join(home, "config.yaml"), `team_dir: ${join(home, "team")}\n`);
      makeRepository(join(home, "team"));
    },
  });
  const team = join(scene.home, "team");
  const told = orderText([[call("Write", { path: ".git/config", content: config })]]);
  const words = orderText([[call("dispatch_to_agent", { agent: "keeper", task: told })]]);

  await waitForEnd(scene, await scene.send(words, "paired", { session: "stranger" }));
  const { store } = scene.served.cortex;
  const writes = () => store.query("select status from agent_tool_calls where tool_name = 'Write'");
  await expect.poll(writes, PATIENT).toEqual([{ status: "error" }]);
  const { committed, uncommitted } = await (await scene.served.cortex.team.open()).housekeeping();

  expect(existsSync(marks)).toBe(false);
  expect({ committed, uncommitted }).toEqual({
    committed: expect.stringMatching(/^[0-9a-f]{40}$/),
    uncommitted: undefined,
  });
  expect(readFileSync(join(team, ".git/config"), "utf8")).not.toContain("fsmonitor");
  expect(await forbiddenEffects(scene)).not.toContainEqual(expect.stringMatching(/secret|attacker/));
});

/** By the file below `.git` that it is put into. */
const PLANTED: readonly (readonly [key: string, file: string, text: string])[] = [
  ["core.fsmonitor", "config", "[core]\n\tfsmonitor = TRAP\n"],
  ["core.hookspath", "config", "[core]\n\thooksPath = FOLDER\n"],
  ["core.editor", "config", "[core]\n\teditor = TRAP\n"],
  ["core.pager", "config", "[core]\n\tpager = TRAP\n"],
  ["core.sshcommand", "config", "[core]\n\tsshCommand = TRAP\n"],
  ["core.gitproxy", "config", "[core]\n\tgitProxy = TRAP\n"],
  ["filter.x.clean", "config", '[filter "x"]\n\tclean = TRAP\n\tsmudge = TRAP\n\tprocess = TRAP\n'],
  ["diff.x.textconv", "config", '[diff "x"]\n\ttextconv = TRAP\n'],
  ["diff.external", "config", "[diff]\n\texternal = TRAP\n"],
  ["merge.x.driver", "config", '[merge "x"]\n\tdriver = TRAP\n'],
  ["gpg.program", "config", "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = TRAP\n"],
  ["credential.helper", "config", "[credential]\n\thelper = !TRAP\n"],
  ["alias.rev-parse", "config", "[alias]\n\trev-parse = !TRAP\n"],
  ["remote.x.uploadpack", "config", '[remote "x"]\n\tpromisor = true\n\tuploadpack = TRAP\n'],
  ["remote.x.url", "config", '[remote "x"]\n\turl = ext::TRAP\n'],
  ["submodule.x.update", "config", '[submodule "x"]\n\tupdate = !TRAP\n'],
  ["include.path", "config", "[include]\n\tpath = more\n"],
  ["includeif.gitdir:/.path", "config", '[includeIf "gitdir:/"]\n\tpath = more\n'],
  ["core.fsmonitor", "config.worktree", "[core]\n\tfsmonitor = TRAP\n"],
];

test.each(PLANTED)(
  "housekeeping says that %s in the team's .git/%s keeps it from committing, and runs nothing",
  async (key, file, planted) => {
    using folder = temporaryFolder();
    const { program, marks } = trap(folder.path);
    using home = teamHome({ "chief-of-staff": {}, dev: { tasks: OLD } });
    home.write(".gitattributes", "*.md filter=x diff=x merge=x\n");
    makeRepository(home.team);
    const fill = (text: string): string => text.replaceAll("TRAP", program).replaceAll("FOLDER", folder.path);
    const path = join(home.team, ".git", file);
    const before = existsSync(path) ? readFileSync(path, "utf8") : "";
    writeFileSync(path, `${before}${fill(planted)}`);
    home.write(".git/more", fill("[core]\n\tfsmonitor = TRAP\n"));
    for (const name of ["pre-commit", "post-commit", "reference-transaction", "post-index-change"])
      writeFileSync(join(folder.path, name), readFileSync(program), { mode: 0o755 });

    const cortex = await home.open({ environment: { ...GIT, ANTHROPIC_API_KEY: KEY } });
    await using _ = { [Symbol.asyncDispose]: () => cortex.stop() };
    const { isPostponed, uncommitted } = await (await cortex.team.open()).housekeeping();

    expect(existsSync(marks)).toBe(false);
    expect(isPostponed).toBe(true);
    expect(uncommitted).toContain(`.git/${file} sets ${key}, which can run a program`);
    expect(home.tasks("dev")).toContain("## Old");
  },
);

test("a repository in a parent, behind a .git file or of a linked work tree is looked at all the same", async () => {
  using folder = temporaryFolder();
  const { program, marks } = trap(folder.path);
  const planted = `[core]\n\tfsmonitor = ${program}\n`;
  for (const kind of ["parent", "file", "tree"] as const) {
    using home = teamHome({ "chief-of-staff": {}, dev: { tasks: OLD } });
    const apart = join(folder.path, kind);
    mkdirSync(apart);
    if (kind === "parent") {
      makeRepository(home.path);
      writeFileSync(join(home.path, ".git/config"), planted);
    } else if (kind === "file") {
      git(home.team, "init", "--quiet", `--separate-git-dir=${join(apart, "kept")}`);
      git(home.team, "add", "--all");
      git(home.team, "commit", "--quiet", "--message=start");
      writeFileSync(join(apart, "kept/config"), planted);
    } else {
      git(apart, "init", "--quiet");
      git(apart, "commit", "--quiet", "--allow-empty", "--message=start");
      git(apart, "worktree", "add", "--quiet", "--no-checkout", join(folder.path, "side"));
      writeFileSync(join(home.team, ".git"), readFileSync(join(folder.path, "side/.git")));
      git(home.team, "add", "--all");
      writeFileSync(join(apart, ".git/config"), planted);
    }
    const cortex = await home.open({ environment: { ...GIT, ANTHROPIC_API_KEY: KEY } });
    await using _ = { [Symbol.asyncDispose]: () => cortex.stop() };
    const { isPostponed, uncommitted } = await (await cortex.team.open()).housekeeping();
    expect({ kind, isPostponed, uncommitted }).toEqual({
      kind,
      isPostponed: true,
      uncommitted: expect.stringContaining("config sets core.fsmonitor"),
    });
  }
  expect(existsSync(marks)).toBe(false);
});

test.skipIf(sandbox === undefined)(
  "a command of an agent that works in the team directory reads the repository and changes nothing of it",
  PATIENT,
  async () => {
    const command =
      "git log --format=%s; touch .git/x; git -c user.name=A -c user.email=a@b commit --allow-empty -m x";
    using home = teamHome(
      { "chief-of-staff": {} },
      {
        cortex: { sandbox: "require", agents: { main: { workspace: "team" } } },
        script: entry(".*", undefined, plays([["Bash", { command }]], "done")),
      },
    );
    makeRepository(home.team);
    const cortex = await home.open({ environment: { PATH: process.env["PATH"] } });
    await using _ = { [Symbol.asyncDispose]: () => cortex.stop() };

    await answerTo(cortex, (await cortex.send({ content: "go" })).item);

    expect((await resultsOf(cortex))[0]).toMatch(
      /^start\n[^]*Read-only file system[^]*Read-only file system/,
    );
    expect(git(home.team, "log", "--format=%s")).toBe("start");
  },
);
