/** The shell functions are taken out of the text that agents get: what they can do is what the text lets them do. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type TestTeam, testTeam } from "../../../test/support/team-folder.ts";
import { protocolText } from "./adapter-text.ts";
import { readTasks } from "../markdown/read-tasks.ts";

const TASKS = "agents/billing-dev/tasks.md";

function functionsOf(team: TestTeam, slug = "billing-dev"): string {
  const text = protocolText(
    {
      slug,
      name: slug,
      project: team.path,
      teamRoot: team.folder.root,
      isCoordinator: slug === "chief-of-staff",
    },
    { heartbeatMinutes: 15 },
    { file: ".cortex.md", run: undefined },
  );
  return /^```sh\n([^]*?)^```$/m.exec(text)![1]!;
}

function run(team: TestTeam, command: string, { shell = "bash", slug = "billing-dev" } = {}): string {
  const { status, stderr } = spawnSync(shell, ["-c", `${functionsOf(team, slug)}\n${command}`], {
    encoding: "utf8",
  });
  expect(status).toBe(0);
  return stderr.trim();
}

const STAMP = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d`;

describe.each(["bash", "sh"])("in %s", (shell) => {
  test("the first task that is ready is taken, and no other line changes", () => {
    const text =
      "# Mine\n```\n## Not one\n**Status:** ready\n```\n## Old\n**Status:** done\n\n## First  `x` \\n $HOME\n\n**Status:** ready\nbody\n\n## Second\n**Status:** ready\n<!-- cortex:last-tick 2026-03-28T10:00 -->\n";
    using team = testTeam({ [TASKS]: text });
    expect(run(team, "take", { shell })).toBe("First  `x` \\n $HOME");
    const written = team.read(TASKS);
    expect(written.replace(new RegExp(`in-progress\n\\*\\*Started:\\*\\* ${STAMP}\n`), "ready\n")).toBe(text);
    expect(readTasks(written).tasks.map(({ status }) => status)).toEqual(["done", "in-progress", "ready"]);
    expect(readdirSync(join(team.folder.root, "agents/billing-dev"))).toEqual(["tasks.md"]);
  });

  test("with nothing ready, nothing is said and nothing written", () => {
    const text = "## A\n**Status:** ready-later\n\n## B\n**Status:** in-progress\n";
    using team = testTeam({ [TASKS]: text });
    const file = join(team.folder.root, TASKS);
    const before = statSync(file);
    expect(run(team, "take", { shell })).toBe("");
    expect(team.read(TASKS)).toBe(text);
    expect(statSync(file).ino).toBe(before.ino);
  });

  test("what stands in code or in a comment is no task, and stays as it is", () => {
    const hidden =
      "````\n```\n## In code\n**Status:** ready\n```\n````\n~~~\n```\n## Here too\n**Status:** ready\n<!-- cortex:last-tick 2026-03-28T10:00 -->\n\nmore\n~~~\n<!--\n## Later\n**Status:** ready\n-->\n```x``` is no fence\n";
    using team = testTeam({ [TASKS]: `${hidden}## Real\n**Status:** ready\n` });
    expect(run(team, "take; tick; finish Real done", { shell })).toBe("Real");
    const written = team.read(TASKS);
    expect(written.startsWith(hidden)).toBe(true);
    expect(readTasks(written)).toMatchObject({ problems: [], tasks: [{ title: "Real", status: "done" }] });
  });

  test("a fence that nobody has closed does not pile up ticks", () => {
    using team = testTeam({ [TASKS]: "## A\n**Status:** ready\n```\nx\n" });
    run(team, "tick; tick; tick", { shell });
    expect(team.read(TASKS).match(/last-tick/g)).toHaveLength(1);
  });

  test("who may read and write the file stays as it is", () => {
    using team = testTeam({ [TASKS]: "## A\n**Status:** ready\n" });
    const file = join(team.folder.root, TASKS);
    chmodSync(file, 0o666);
    run(team, "set -C; take", { shell });
    expect(statSync(file).mode & 0o777).toBe(0o666);
  });

  test("a task that is finished is as the protocol shows it", () => {
    const before =
      "## Add a webhook\n**Status:** in-progress\n**Started:** 2026-03-28T10:15\n\nVerify it.\n\n## Next\n**Status:** in-progress\n";
    using team = testTeam({ [TASKS]: before });
    run(team, "finish 'Add a webhook' 'Done, with \\n and $x.'", { shell });
    expect(team.read(TASKS)).toMatch(
      new RegExp(
        String.raw`^## Add a webhook\n\*\*Status:\*\* done\n\*\*Started:\*\* 2026-03-28T10:15\n\*\*Completed:\*\* ${STAMP}\n\nVerify it\.\n\n### Summary\nDone, with \\n and \$x\.\n\n## Next\n\*\*Status:\*\* in-progress\n$`,
      ),
    );
    run(team, "finish Next done", { shell });
    expect(readTasks(team.read(TASKS)).tasks).toMatchObject([
      { title: "Add a webhook", status: "done", summary: "Done, with \\n and $x." },
      { title: "Next", status: "done", summary: "done" },
    ]);
    expect(readTasks(team.read(TASKS)).problems).toEqual([]);
  });

  test("only what stands right below a heading is a status, also in a file with CRLF", () => {
    const text =
      "## Done \r\n**Status:** done\r\n\r\n**Status:** ready\r\n\r\n## Prose\r\nwords\r\n**Status:** ready\r\n\r\n## Real\r\n**Template:** review\r\n**Status:** ready\r\n";
    using team = testTeam({ [TASKS]: text });
    expect(run(team, "take", { shell })).toBe("Real");
    run(team, "finish Real ok", { shell });
    expect(readTasks(team.read(TASKS)).tasks).toMatchObject([
      { title: "Done", status: "done" },
      { title: "Real", status: "done", summary: "ok" },
    ]);
    expect(team.read(TASKS).startsWith(text.slice(0, text.indexOf("## Real")))).toBe(true);
  });

  test("what is said of a task never becomes another one", () => {
    using team = testTeam({ [TASKS]: "## A\n**Status:** in-progress\n" });
    run(team, `finish A '## Big\n# Bigger'`, { shell });
    run(team, `dispatch billing-dev B '## C\n**Status:** ready'`, {
      shell,
      slug: "chief-of-staff",
    });
    expect(readTasks(team.read(TASKS)).tasks.map(({ title }) => title)).toEqual(["A", "B"]);
  });

  test("the tick stands once, at the end, and what others tick stays", () => {
    using team = testTeam({
      [TASKS]:
        "<!-- cortex:last-tick 2026-03-28T10:00 -->\n## A\n**Status:** ready\n<!-- shuttle:last-tick 2026-03-28T10:00 -->\n",
    });
    run(team, "tick; tick", { shell });
    expect(team.read(TASKS)).toMatch(
      new RegExp(
        `^## A\n\\*\\*Status:\\*\\* ready\n<!-- shuttle:last-tick \\S+ -->\n<!-- cortex:last-tick ${STAMP} -->\n$`,
      ),
    );
  });

  test("the coordinator dispatches into an empty file, and before the tick", () => {
    using team = testTeam({ [TASKS]: "" });
    const slug = "chief-of-staff";
    run(team, "dispatch billing-dev 'One' 'Do it.'", { shell, slug });
    expect(team.read(TASKS)).toBe("## One\n**Status:** ready\n\nDo it.\n\n");
    writeFileSync(
      join(team.folder.root, TASKS),
      "## One\n**Status:** ready\n<!-- cortex:last-tick 2026-03-28T10:00 -->\n",
    );
    run(team, "dispatch billing-dev 'Two' 'Do that.'", { shell, slug });
    expect(team.read(TASKS)).toBe(
      "## One\n**Status:** ready\n\n## Two\n**Status:** ready\n\nDo that.\n\n<!-- cortex:last-tick 2026-03-28T10:00 -->\n",
    );
  });
});

test("a lock that was left behind long ago holds nobody up", () => {
  using team = testTeam({ [TASKS]: "## A\n**Status:** ready\n" });
  const lock = join(team.folder.root, "agents/billing-dev/.tasks.md.lock");
  writeFileSync(lock, "1 elsewhere\n");
  utimesSync(lock, new Date(0), new Date(0));
  expect(run(team, "take")).toBe("A");
});

test("a folder that is not there is said, and not waited for", () => {
  using team = testTeam();
  const { status } = spawnSync("bash", ["-c", `${functionsOf(team)}\ntake`]);
  expect(status).toBe(1);
});

test("a script that knows only the text takes tasks beside us: each has one taker, and no edit is lost", async () => {
  const count = 16;
  const titles = Array.from({ length: count }, (_, index) => `Task ${index}`);
  using team = testTeam({
    [TASKS]: titles.map((title) => `## ${title}\n**Status:** ready\n\nDo it.\n\n`).join(""),
  });
  const script = `${functionsOf(team)}
    while title=$(take 2>&1) && [ -n "$title" ]; do
      finish "$title" "by the script" && tick && echo "$title"
    done`;
  const others = [spawnScript(script), spawnScript(script)];
  const ours = await takeAll(team);
  const theirs = (await Promise.all(others)).flat();

  expect(Math.min(ours.length, theirs.length)).toBeGreaterThan(count / 10);
  expect([...ours, ...theirs].toSorted()).toEqual(titles.toSorted());
  const { tasks, problems } = readTasks(team.read(TASKS));
  expect(problems).toEqual([]);
  expect(tasks.map(({ title }) => title)).toEqual(titles);
  for (const { title, status, body, summary } of tasks) {
    expect(status).toBe("done");
    expect(body).toContain("Do it.");
    expect(summary).toBe(ours.includes(title) ? "by us" : "by the script");
  }
}, 60_000);

test("the lock is taken as docs/team-adapters.md shows it", () => {
  using team = testTeam({ [TASKS]: "## A\n**Status:** ready\n\n## B\n**Status:** ready\n" });
  const page = readFileSync(new URL("../../../docs/team-adapters.md", import.meta.url), "utf8");
  const script = Array.from(page.matchAll(/```sh\n(.*?)```/gs), ([, text]) => text!).find((text) =>
    text.includes("noclobber"),
  )!;
  const env = { HOME: team.path, PATH: process.env["PATH"] };
  for (const shell of ["sh", "bash"]) expect(spawnSync(shell, ["-c", script], { env }).status).toBe(0);
  const { tasks } = readTasks(team.read(TASKS));
  expect(tasks.map(({ status }) => status)).toEqual(["in-progress", "in-progress"]);
  expect(tasks.every(({ started }) => new RegExp(`^${STAMP}$`).test(started ?? ""))).toBe(true);
  expect(readdirSync(join(team.folder.root, "agents/billing-dev"))).toEqual(["tasks.md"]);
});

/** We are faster than a shell, so each time we wait until somebody else has done something. */
async function takeAll({ folder, read }: TestTeam): Promise<string[]> {
  const taken: string[] = [];
  const stamp = "2026-03-28T10:15";
  const nextOf = (text: string) => readTasks(text).tasks.find(({ status }) => status === "ready");
  for (;;) {
    const { edit } = await folder.editFrom(TASKS, (text) => {
      const task = nextOf(text);
      return (
        task && { file: "tasks", edit: { kind: "claim", task: { title: task.title, ordinal: 1 }, stamp } }
      );
    });
    if (edit?.file !== "tasks" || edit.edit.kind !== "claim") return taken;
    const { task } = edit.edit;
    taken.push(task.title);
    await folder.edit(TASKS, { file: "tasks", edit: { kind: "tick", stamp } });
    const complete = { kind: "complete", task, stamp, summary: "by us" } as const;
    const { text } = await folder.edit(TASKS, { file: "tasks", edit: complete });
    const isTheirTurnOver = (): boolean => nextOf(text) === undefined || read(TASKS) !== text;
    await expect.poll(isTheirTurnOver, { interval: 1 }).toBe(true);
  }
}

async function spawnScript(script: string): Promise<string[]> {
  const child = spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  for await (const chunk of child.stdout) said += String(chunk);
  return said.split("\n").filter((line) => line !== "");
}
