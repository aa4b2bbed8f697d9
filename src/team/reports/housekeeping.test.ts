import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { member, teamDirectory } from "../../../test/support/team-directory.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { PRUNE_SUBJECT } from "./commit-prune.ts";
import { housekeep, type HousekeepingReport } from "./housekeeping.ts";
import { stampMs } from "../markdown/stamp.ts";
import { TeamFolder } from "../files/team-folder.ts";
import { TeamReader } from "../files/team-reader.ts";

const TIMEZONE = "Europe/Berlin";
const NOW_MS = stampMs("2026-04-10T18:00", TIMEZONE)!;
const TASKS = "agents/billing-dev/tasks.md";
const NOTE = "agents/billing-dev/billing-dev.md";

const OLD = done("Old work", "2026-03-28T11:42");
const RECENT = done("Recent work", "2026-04-09T11:42");
const READY = "## Next work\n**Status:** ready\n\nDo it.\n\n";
const TICK = "<!-- cortex:last-tick 2026-04-10T17:55 -->\n";
const LATEST = "Last session: 2026-04-09\nStatus: active — recent work\n";
const EARLIER = "\nLast session: 2026-03-28\nStatus: active — old work\n";

function done(title: string, completed: string): string {
  return `## ${title}\n**Status:** done\n**Started:** 2026-03-28T10:15\n**Completed:** ${completed}\n\nBody of it.\n\n### Summary\nDid ${title}.\n\n`;
}

function files(tasks: string, log = LATEST): Record<string, string> {
  return member("billing-dev", { tasks, log });
}

const HOOKS =
  "pre-commit prepare-commit-msg commit-msg post-commit post-rewrite reference-transaction post-index-change".split(
    " ",
  );

/** A person with their own settings of git, on whose machine Cortex runs. */
class Person implements Disposable {
  readonly #owned = new DisposableStack();
  readonly #home = this.#owned.use(temporaryFolder());
  readonly environment = { PATH: process.env["PATH"], HOME: this.#home.path };
  readonly team: ReturnType<typeof teamDirectory>;

  constructor(written: Readonly<Record<string, string | Buffer>>, { identity = true } = {}) {
    this.team = this.#owned.use(teamDirectory(written));
    const user = identity
      ? "[user]\n\tname = Ann\n\temail = ann@example.com\n"
      : "[user]\n\tuseConfigOnly = true\n";
    writeFileSync(join(this.#home.path, ".gitconfig"), `${user}[init]\n\tdefaultBranch = main\n`);
  }

  [Symbol.dispose](): void {
    this.#owned.dispose();
  }

  git(...args: string[]): string {
    const options = { cwd: this.team.path, env: this.environment, encoding: "utf8", stdio: "pipe" } as const;
    return execFileSync("git", args, options).trimEnd();
  }

  commitAll(): void {
    if (!existsSync(join(this.team.path, ".git"))) this.git("init", "--quiet");
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", "start");
  }

  read(path: string): string {
    return readFileSync(join(this.team.path, path), "utf8");
  }

  async housekeep(root = this.team.path, gitTimeoutMs = 60_000): Promise<HousekeepingReport> {
    const clock = (): number => NOW_MS;
    const team = await new TeamReader({ root, clock, timezone: TIMEZONE, heartbeatMinutes: 15 }).read();
    const folder = new TeamFolder({ root, clock });
    const { environment } = this;
    return housekeep(folder, team, { nowMs: NOW_MS, timezone: TIMEZONE, environment, gitTimeoutMs });
  }

  /** A script that git runs before a commit, and after many other things. */
  hook(script: string, name = "pre-commit"): void {
    this.team.write({ [`.git/hooks/${name}`]: `#!/bin/sh\n${script}\n` });
    chmodSync(join(this.team.path, ".git/hooks", name), 0o755);
  }

  /** Lets something happen right before our commit. */
  beforeCommit(script: string): void {
    const folder = this.#owned.use(temporaryFolder());
    const real = execFileSync("which", ["git"], { encoding: "utf8" }).trim();
    const own = `unset GIT_INDEX_FILE GIT_CONFIG_GLOBAL; HOME="${this.#home.path}"; git() { "${real}" "$@"; }`;
    const git = `#!/bin/sh\ncase " $* " in *" commit-tree "*) (${own}; ${script}) || exit 1;; esac\nexec "${real}" "$@"\n`;
    writeFileSync(join(folder.path, "git"), git, { mode: 0o755 });
    this.environment.PATH = `${folder.path}:${this.environment.PATH}`;
  }

  /** What was committed since the first commit. */
  lastChange(): string[] {
    return this.git("show", "--format=%s", "--name-only", "HEAD").split("\n").filter(Boolean);
  }
}

test("tasks that were done more than a week ago go, and the latest entry of a session log stays", async () => {
  using ann = new Person(files(OLD + RECENT + READY + TICK, LATEST + EARLIER));

  const kept = await ann.housekeep();

  expect(ann.read(TASKS)).toBe(RECENT + READY + TICK);
  expect(ann.read(NOTE)).toContain(LATEST);
  expect(ann.read(NOTE)).not.toContain("old work");
  expect(kept).toMatchObject({
    removed: [{ slug: "billing-dev", title: "Old work", completed: "2026-03-28T11:42" }],
    trimmed: ["billing-dev"],
    committed: undefined,
    uncommitted: "not a git repository",
    isPostponed: false,
    failed: [],
  });
});

test("a week is counted by the clock on the wall, to the minute", async () => {
  using ann = new Person(
    files(done("A week", "2026-04-03T18:00") + done("A minute more", "2026-04-03T17:59")),
  );

  expect((await ann.housekeep()).removed.map(({ title }) => title)).toEqual(["A minute more"]);
});

test("done tasks without a time, and all that are not done, stay however old they are", async () => {
  const undated = "## Undated\n**Status:** done\n\n";
  const odd = "## Odd\n**Status:** done\n**Completed:** last year\n\n";
  const active =
    "## Active\n**Status:** in-progress\n**Started:** 2020-01-01T10:00\n**Completed:** 2020-01-01T10:00\n\n";
  const unknown = "## Cancelled\n**Status:** cancelled\n**Completed:** 2020-01-01T10:00\n\n";
  const text = undated + odd + active + unknown;
  using ann = new Person(files(text));

  expect(await ann.housekeep()).toMatchObject({ removed: [], trimmed: [], uncommitted: undefined });
  expect(ann.read(TASKS)).toBe(text);
});

test("what is pruned is committed with the words of the protocol, and nothing is left to commit", async () => {
  using ann = new Person(files(OLD + RECENT + TICK, LATEST + EARLIER));
  ann.commitAll();

  const { committed } = await ann.housekeep();

  expect(ann.git("rev-parse", "HEAD")).toBe(committed);
  expect(ann.git("log", "--format=%B", "-1")).toBe(PRUNE_SUBJECT);
  expect(ann.git("log", "--format=%an <%ae>", "-1")).toBe("Ann <ann@example.com>");
  expect(ann.lastChange()).toEqual([PRUNE_SUBJECT, NOTE, TASKS]);
  expect(ann.git("status", "--porcelain")).toBe("");
  expect(ann.git("show", `HEAD~1:${TASKS}`)).toContain("Old work");
  expect(ann.git("rev-list", "--count", "HEAD")).toBe("2");
});

test("where there is nothing to prune, there is no commit", async () => {
  using ann = new Person(files(RECENT + TICK));
  ann.commitAll();

  expect(await ann.housekeep()).toMatchObject({ committed: undefined, uncommitted: undefined });
  expect(ann.git("rev-list", "--count", "HEAD")).toBe("1");
});

test("other changes are not committed: staged ones stay staged, the rest stays as it is", async () => {
  using ann = new Person({ ...files(OLD + RECENT), ...member("other-dev"), "README.md": "read me\n" });
  ann.commitAll();
  ann.team.write({ "README.md": "staged\n", "new.md": "new\n", "agents/other-dev/tasks.md": READY });
  ann.git("add", "README.md", "new.md");
  ann.team.write({ "README.md": "staged and more\n" });

  await ann.housekeep();

  expect(ann.lastChange()).toEqual([PRUNE_SUBJECT, TASKS]);
  expect(
    ann
      .git("status", "--porcelain")
      .split("\n")
      .map((line) => line.trim()),
  ).toEqual(["MM README.md", "M agents/other-dev/tasks.md", "A  new.md"]);
});

test("changes that people have not committed in the same file are still theirs to commit", async () => {
  using ann = new Person(files(OLD + RECENT));
  ann.commitAll();
  ann.team.write({ [TASKS]: `# Notes of Ann\n\n${OLD}${RECENT}${READY}` });

  await ann.housekeep();

  expect(ann.read(TASKS)).toBe(`# Notes of Ann\n\n${RECENT}${READY}`);
  expect(`${ann.git("show", `HEAD:${TASKS}`)}\n\n`).toBe(RECENT);
  expect(ann.git("diff", "--cached", "--name-only")).toBe("");
  expect(changedLines(ann.git("diff"))).toEqual(["+# Notes of Ann", "+", ...added(READY)]);
});

test("changes that people have staged in the same file stay staged, without what was pruned", async () => {
  using ann = new Person(files(OLD + RECENT));
  ann.commitAll();
  ann.team.write({ [TASKS]: `# Staged by Ann\n\n${OLD}${RECENT}` });
  ann.git("add", TASKS);
  ann.team.write({ [TASKS]: `# Staged by Ann\n\n${OLD}${RECENT}${READY}` });

  await ann.housekeep();

  expect(`${ann.git("show", `HEAD:${TASKS}`)}\n\n`).toBe(RECENT);
  expect(changedLines(ann.git("diff", "--cached"))).toEqual(["+# Staged by Ann", "+"]);
  expect(changedLines(ann.git("diff"))).toEqual(added(READY));
});

test("a task that was never committed before it was pruned is found in the message of the commit", async () => {
  using ann = new Person(files(RECENT));
  ann.commitAll();
  ann.team.write({ [TASKS]: OLD + RECENT });

  await ann.housekeep();

  const [subject, ...body] = ann.git("log", "--format=%B", "-1").split("\n");
  expect(subject).toBe(PRUNE_SUBJECT);
  expect(body.join("\n")).toContain(OLD.trim());
  expect(ann.git("status", "--porcelain")).toBe("");
});

test("a file that was never committed is committed as it is after pruning", async () => {
  using ann = new Person(files(OLD + RECENT));
  ann.git("init", "--quiet");

  await ann.housekeep();

  expect(ann.lastChange()).toEqual([PRUNE_SUBJECT, TASKS]);
  expect(`${ann.git("show", `HEAD:${TASKS}`)}\n\n`).toBe(RECENT);
  expect(ann.git("log", "--format=%B", "-1")).toContain("Did Old work.");
  expect(ann.git("status", "--porcelain", "--untracked-files=all")).toBe(`?? ${NOTE}`);
});

test("files that git is told to ignore are pruned and not committed", async () => {
  using ann = new Person({ ...files(OLD + RECENT), ".gitignore": "agents/\n" });
  ann.commitAll();

  expect(await ann.housekeep()).toMatchObject({
    removed: [{ title: "Old work" }],
    committed: undefined,
    uncommitted: "git ignores these files",
  });
  expect(ann.read(TASKS)).toBe(RECENT);
  expect(ann.git("rev-list", "--count", "HEAD")).toBe("1");
});

test("in a folder of a larger repository only the team's own files are committed", async () => {
  using ann = new Person({ "code.ts": "1\n" });
  for (const [path, text] of Object.entries(files(OLD + RECENT)))
    ann.team.write({ [`docs/team/${path}`]: text });
  ann.commitAll();
  ann.team.write({ "code.ts": "2\n" });

  await ann.housekeep(join(ann.team.path, "docs/team"));

  expect(ann.lastChange()).toEqual([PRUNE_SUBJECT, `docs/team/${TASKS}`]);
  expect(ann.git("status", "--porcelain")).toBe(" M code.ts");
});

test("a repository that happens to lie above the team, and tracks nothing of it, is left alone", async () => {
  using ann = new Person({ dotfile: "1\n" });
  ann.commitAll();
  for (const [path, text] of Object.entries(files(OLD + RECENT))) ann.team.write({ [`team/${path}`]: text });

  expect(await ann.housekeep(join(ann.team.path, "team"))).toMatchObject({
    removed: [{ title: "Old work" }],
    uncommitted: "git tracks none of its files",
  });
  expect(ann.git("rev-list", "--count", "HEAD")).toBe("1");
});

test("while a merge is in progress nothing is pruned, and the merge stays as it is", async () => {
  using ann = new Person({ ...files(OLD + RECENT), "a.md": "1\n" });
  ann.commitAll();
  ann.git("switch", "--quiet", "--create", "side");
  ann.team.write({ "a.md": "side\n" });
  ann.commitAll();
  ann.git("switch", "--quiet", "main");
  ann.team.write({ "a.md": "main\n" });
  ann.commitAll();
  expect(() => ann.git("merge", "side")).toThrow("Command failed");
  const before = ann.git("status", "--porcelain");

  const kept = await ann.housekeep();

  expect(kept).toMatchObject({ removed: [], isPostponed: true, uncommitted: "a merge is in progress" });
  expect(ann.read(TASKS)).toBe(OLD + RECENT);
  expect(ann.git("status", "--porcelain")).toBe(before);
});

test("where HEAD is detached nothing is pruned: the commit would belong to no branch", async () => {
  using ann = new Person(files(OLD + RECENT));
  ann.commitAll();
  ann.git("switch", "--quiet", "--detach");

  const { isPostponed, uncommitted } = await ann.housekeep();

  expect(isPostponed).toBe(true);
  expect(uncommitted).toContain("detached");
  expect(ann.read(TASKS)).toBe(OLD + RECENT);
});

test("where git refuses the commit nothing is pruned, and what was staged is as it was", async () => {
  using ann = new Person({ ...files(OLD + RECENT), "README.md": "1\n" });
  ann.commitAll();
  ann.team.write({ "README.md": "2\n", [TASKS]: `# Staged\n\n${OLD}${RECENT}` });
  ann.git("add", "--all");
  const staged = ann.git("diff", "--cached");
  ann.beforeCommit("echo 'no room' >&2; exit 1");

  expect(await ann.housekeep()).toMatchObject({ isPostponed: true, uncommitted: "no room" });
  expect(ann.read(TASKS)).toBe(`# Staged\n\n${OLD}${RECENT}`);
  expect(ann.git("diff", "--cached")).toBe(staged);
  expect(ann.git("rev-list", "--count", "HEAD")).toBe("1");
  expect(readdirSync(join(ann.team.path, ".git")).filter((name) => name.startsWith("cortex-"))).toEqual([]);
});

test("no hook of the repository is run", async () => {
  using ann = new Person(files(OLD + RECENT));
  ann.commitAll();
  for (const name of HOOKS) ann.hook(`echo ${name} >> "${ann.team.path}/ran"; exit 1`, name);

  expect((await ann.housekeep()).committed).toMatch(/^[0-9a-f]{40}$/);
  expect(existsSync(join(ann.team.path, "ran"))).toBe(false);
});

test("a commit that somebody else makes at the same moment is not undone", async () => {
  using ann = new Person({ ...files(OLD + RECENT), "README.md": "1\n" });
  ann.commitAll();
  ann.beforeCommit("echo 2 > README.md; git commit --quiet --message theirs README.md");

  const kept = await ann.housekeep();

  expect(kept).toMatchObject({
    isPostponed: true,
    uncommitted: "another commit was made at the same time",
  });
  expect(ann.git("log", "--format=%s")).toBe("theirs\nstart");
  expect(ann.git("status", "--porcelain")).toBe("");
  expect(ann.read(TASKS)).toBe(OLD + RECENT);
});

test("a task that somebody edits while it is being pruned stays in the file", async () => {
  using ann = new Person(files(RECENT + OLD));
  ann.commitAll();
  ann.beforeCommit(`echo 'And the rest of it.' >> ${TASKS}`);

  const { removed, isPostponed } = await ann.housekeep();

  expect({ removed, isPostponed }).toEqual({ removed: [], isPostponed: false });
  expect(ann.read(TASKS)).toBe(`${RECENT}${OLD}And the rest of it.\n`);
});

test("git that does not end is stopped, and nothing is pruned", async () => {
  using ann = new Person(files(OLD + RECENT));
  ann.commitAll();
  ann.beforeCommit("exec sleep 600");

  const { isPostponed, uncommitted } = await ann.housekeep(ann.team.path, 500);

  expect(isPostponed).toBe(true);
  expect(uncommitted).toMatch(/^git [a-z-]+ timed out after 500 ms$/);
  expect(ann.read(TASKS)).toBe(OLD + RECENT);
});

test("who was killed between the commit and the pruning has lost nothing", async () => {
  using ann = new Person(files(OLD + RECENT));
  ann.commitAll();
  await ann.housekeep();
  ann.team.write({ [TASKS]: OLD + RECENT });

  expect((await ann.housekeep()).removed).toMatchObject([{ title: "Old work" }]);
  expect(ann.read(TASKS)).toBe(RECENT);
  expect(ann.git("status", "--porcelain")).toBe("");
});

test("a linked work tree has its own branch, on which the commit is made", async () => {
  using ann = new Person({ ...files(OLD + RECENT), "main.md": "1\n" });
  ann.commitAll();
  using elsewhere = temporaryFolder();
  const tree = join(elsewhere.path, "team");
  ann.git("worktree", "add", "--quiet", "-b", "side", tree);

  const { committed } = await ann.housekeep(tree);

  expect(ann.git("rev-parse", "side")).toBe(committed);
  expect(ann.git("-C", tree, "status", "--porcelain")).toBe("");
  expect(ann.git("rev-list", "--count", "main")).toBe("1");
});

test("a repository with longer object names is the same to us", async () => {
  using ann = new Person({ ...files(OLD + RECENT) });
  ann.git("init", "--quiet", "--object-format=sha256");
  const { PATH } = ann.environment;
  ann.beforeCommit("exit 1");

  expect(await ann.housekeep()).toMatchObject({
    isPostponed: true,
    uncommitted: "git commit-tree exited with 1",
  });
  expect(ann.git("ls-files")).toBe("");
  ann.environment.PATH = PATH;
  expect((await ann.housekeep()).committed).toMatch(/^[0-9a-f]{64}$/);
});

test("where git does not know who its user is, Cortex commits in its own name", async () => {
  using ann = new Person(files(OLD + RECENT), { identity: false });
  ann.git("init", "--quiet");

  const { committed } = await ann.housekeep();

  expect(committed).toMatch(/^[0-9a-f]{40}$/);
  expect(ann.git("log", "--format=%an <%ae>", "-1")).toBe("Cortex <cortex@localhost>");
});

test("while another git holds the index nothing is pruned", async () => {
  using ann = new Person(files(OLD + RECENT));
  ann.commitAll();
  ann.team.write({ ".git/index.lock": "" });

  const { isPostponed, uncommitted } = await ann.housekeep();

  expect(isPostponed).toBe(true);
  expect(uncommitted).toContain("index.lock");
  expect(ann.read(TASKS)).toBe(OLD + RECENT);
});

test("without git the files are pruned all the same, and it is said that nothing keeps the old ones", async () => {
  using ann = new Person(files(OLD + RECENT));
  ann.environment.PATH = "/nowhere";

  expect(await ann.housekeep()).toMatchObject({
    removed: [{ title: "Old work" }],
    uncommitted: "git is not installed",
    isPostponed: false,
  });
});

test("variables of a git that runs Cortex do not lead to another repository", async () => {
  using other = new Person({ "a.md": "1\n" });
  other.commitAll();
  using ann = new Person(files(OLD + RECENT));
  ann.commitAll();
  Object.assign(ann.environment, {
    GIT_DIR: join(other.team.path, ".git"),
    GIT_INDEX_FILE: join(other.team.path, ".git/index"),
    GIT_WORK_TREE: other.team.path,
  });

  const { committed } = await ann.housekeep();

  expect(readFileSync(join(ann.team.path, ".git/refs/heads/main"), "utf8").trim()).toBe(committed);
  expect(other.git("rev-list", "--count", "HEAD")).toBe("1");
});

test("line ends that git keeps in another way than the disk make no difference", async () => {
  const crlf = (text: string): string => text.replaceAll("\n", "\r\n");
  using ann = new Person({ ...files(OLD + RECENT), ".gitattributes": "*.md text eol=crlf\n" });
  ann.team.write({ [TASKS]: crlf(OLD + RECENT) });
  ann.commitAll();

  await ann.housekeep();

  expect(ann.read(TASKS)).toBe(crlf(RECENT));
  expect(ann.git("log", "--format=%B", "-1")).toBe(PRUNE_SUBJECT);
  expect(`${ann.git("show", `HEAD:${TASKS}`)}\n\n`).toBe(RECENT);
  expect(ann.git("status", "--porcelain")).toBe("");
});

test("a file that cannot be written is named, and the others are pruned", async () => {
  using ann = new Person({ ...files(OLD + RECENT), ...member("other-dev", { tasks: OLD }) });
  chmodSync(join(ann.team.path, TASKS), 0o444);

  const { removed, failed } = await ann.housekeep();

  expect(removed.map(({ slug }) => slug)).toEqual(["other-dev"]);
  expect(failed.map(({ file }) => file)).toEqual([TASKS]);
});

function changedLines(diff: string): string[] {
  return diff.split("\n").filter((line) => /^[+-](?![+-]{2} )/.test(line));
}

function added(text: string): string[] {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `+${line}`);
}
