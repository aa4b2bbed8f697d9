/** What docs/teams.md, docs/team-files.md and docs/team-adapters.md show, as a reader would try it. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { isAlive } from "../src/programs/is-alive.ts";
import { TEAM_KEYS, teamFlag } from "../src/config/team-settings.ts";
import { applyEdit } from "../src/team/markdown/apply-edit.ts";
import { TEAM_USAGE } from "../src/team/surface/chat-commands.ts";
import { externalPathOf } from "../src/team/markdown/task.ts";
import { MIN_STALE_MINUTES } from "../src/team/files/liveness.ts";
import { readNote, readProject } from "../src/team/markdown/read-note.ts";
import { readTasks } from "../src/team/markdown/read-tasks.ts";
import { MAX_SNAPSHOT_BYTES, SNAPSHOT_DAYS } from "../src/team/files/snapshots.ts";
import { readNote as readServerNote, start } from "./support/cli.ts";
import { run } from "./support/here.ts";
import { blocksOf, commandsOf, readPage, wordsOf } from "./support/docs.ts";
import { writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { entry, plays } from "./support/workers.ts";

const LONG = { timeout: 240_000 };
const teams = readPage("docs/teams.md");
const files = readPage("docs/team-files.md");
const adapters = readPage("docs/team-adapters.md");

function newHome() {
  const home = temporaryFolder();
  const profiles = { profiles: { offline: { backend: "offline", script: "script.yaml" } } };
  const script = entry("^Cortex tick:", undefined, plays([], "It is done."));
  // `~` is the home of Cortex here, where only the workspace of an agent is for work.
  const agents = { main: {}, builder: { workspace: join(home.path, "Projects") } };
  writeHome(home.path, { cortex: { timezone: "UTC", server: { port: 0 }, agents }, profiles, script });
  return home;
}

test("the commands of docs/teams.md do what the page says, one after the other", LONG, async () => {
  using home = newHome();
  const tasks = (): string =>
    readFileSync(join(home.path, "cortex-team/agents/billing-dev/tasks.md"), "utf8");
  const commands = commandsOf(teams);
  expect(commands.length).toBeGreaterThan(20);
  const begun = commands.findIndex((command) => command.includes("tick")) + 1;
  await using _ = { [Symbol.asyncDispose]: () => stopServer(home.path) };
  for (const command of commands.slice(0, begun)) await expectGood(command, home.path);
  await expect.poll(tasks, PATIENT).toContain("### Summary\nIt is done.");
  for (const command of commands.slice(begun)) await expectGood(command, home.path);
});

test("the commands of docs/team-adapters.md do what the page says", LONG, async () => {
  using home = newHome();
  const project = join(home.path, "Projects/billing-service");
  mkdirSync(project, { recursive: true });
  await run(home.path, ["team", "init"]);
  for (const command of commandsOf(adapters).filter(isCommand)) await expectGood(command, home.path);
  expect(readdirSync(project)).toEqual([]); // what was written is taken out again
});

test("every command of the team is in docs/teams.md or docs/team-adapters.md", LONG, async () => {
  using home = temporaryFolder();
  const { out } = await run(home.path, ["team", "--help"]);
  const names = Array.from(
    out
      .split("Commands:")[1]!
      .split("Examples:")[0]!
      .matchAll(/^ {2}([a-z]+)/gm),
    ([, name]) => name!,
  );
  expect(names.length).toBeGreaterThan(12);
  for (const name of names.filter((each) => each !== "help"))
    expect(teams + adapters).toMatch(new RegExp(`cortex team ${name}\\b`));
  for (const key of TEAM_KEYS) expect(teams).toContain(`--${teamFlag(key)}`);
});

test("every command of a chat is in docs/teams.md", () => {
  const commands = TEAM_USAGE.split("\n").map((line) => /^!team(?: [a-z]+)?/.exec(line)![0]);
  for (const command of commands) expect(teams).toContain(`\`${command}`);
});

test("the numbers in the pages are those of the program", () => {
  expect(teams).toContain(`within the last ${MIN_STALE_MINUTES} minutes`);
  expect(files).toContain(`for ${SNAPSHOT_DAYS} days, at\nmost ${MAX_SNAPSHOT_BYTES / 1024 / 1024} MiB`);
});

test("the files in docs/team-files.md are right, and read as the page says", () => {
  const [_tree, ready, done, tick, note, project] = blocksOf(files, "text");
  const file = readTasks(`${ready}\n${done!.replace("Stripe", "Braintree")}\n${tick}`);
  const { title: first, body } = file.tasks[0]!;
  expect(applyEdit("", { file: "tasks", edit: { kind: "add", title: first, body } })).toBe(ready);
  expect(file).toMatchObject({
    tasks: [
      { status: "ready", started: undefined },
      { status: "done", completed: "2026-03-28T11:42", summary: expect.stringMatching(/^Implemented POST/) },
    ],
    tick: { stamp: "2026-03-28T11:42" },
    problems: [],
  });
  expect(readNote(note!)).toMatchObject({
    name: "Billing Dev",
    status: "active",
    runtime: "cortex",
    projects: ["billing-service"],
    log: { last: "2026-03-28", status: "active — implemented webhook endpoint" },
    problems: [],
  });
  expect(readProject(project!)).toMatchObject({
    status: "active",
    nextActions: [expect.any(String)],
    problems: [],
  });
  const [, title] = /A task called `([^`]+)`/.exec(files)!;
  expect(externalPathOf({ title: title!, external: undefined })).toBe(".shuttle.md");
});

/** The script of the adapter has a test beside its source. */
function isCommand(command: string): boolean {
  return command.startsWith("cortex ");
}

/** `lint` ends with 1 where it has something to tell, which is what it is asked for. */
async function expectGood(command: string, home: string): Promise<void> {
  const { code, err } = await carryOut(command, home);
  const good = / team lint/.test(command) ? [0, 1] : [0];
  expect({ command, code, err }).toEqual({ command, code: expect.toBeOneOf(good), err });
}

async function carryOut(command: string, home: string): Promise<{ code: number | null; err: string }> {
  const words = wordsOf(command, { home });
  if (command.startsWith("mkdir -p ")) {
    mkdirSync(command.slice("mkdir -p ".length).replace("~", home), { recursive: true });
    return { code: 0, err: "" };
  }
  if (!command.endsWith(" team watch")) return run(home, words);
  const watching = start(home, ...words);
  await watching.says("billing-dev");
  watching.child.kill("SIGTERM");
  return watching.ended;
}

/** The one that `--start` has left behind. */
async function stopServer(home: string): Promise<void> {
  if (!existsSync(join(home, "data", "server.json"))) return; // it was never started
  const { pid } = readServerNote(home);
  process.kill(pid, "SIGTERM");
  await expect.poll(() => isAlive(pid), PATIENT).toBe(false);
}
