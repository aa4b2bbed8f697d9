// A team in memory, read and written as the program does it, and the same files read and written as plainly as can be.
// Each part runs in a process of its own, so that the first look at a team is one. Prints one line of JSON.

import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { FileEdit } from "../../src/team/markdown/edit.ts";
import { readTasks } from "../../src/team/markdown/read-tasks.ts";
import { toStamp } from "../../src/team/markdown/stamp.ts";
import { TeamFolder } from "../../src/team/files/team-folder.ts";
import { TeamReader } from "../../src/team/files/team-reader.ts";
import { percentile } from "../percentile.ts";
import { openMemoryFolder } from "../slow-sync.ts";

const MEMBERS = 1_000;
const TASKS = 100;
const LONG = 10_000;
const ROUNDS = 30;
const HEARTBEAT_MINUTES = 15;

const { values } = parseArgs({ options: { part: { type: "string", default: "status" } } });
const root = openMemoryFolder("team");
const clock = Date.now;
const PARTS: Readonly<Record<string, () => Promise<object>>> = { status, plain, claim, tick };
console.log(JSON.stringify(await PARTS[values.part]!()));

async function status(): Promise<object> {
  makeTeam();
  const reader = new TeamReader({ root, clock, timezone: "UTC", heartbeatMinutes: HEARTBEAT_MINUTES });
  const times: number[] = [];
  let members = 0;
  for (let round = 0; round < 1 + ROUNDS; round++) {
    const startedMs = performance.now();
    const team = await reader.read();
    times.push(performance.now() - startedMs);
    members = team.members.length;
  }
  const [coldMs, ...warm] = times;
  return { members, coldMs, warmMs: percentile(warm, 50) };
}

/** The same bytes, and no more than that. */
async function plain(): Promise<object> {
  makeTeam();
  const startedMs = performance.now();
  let characters = 0;
  for (const slug of readdirSync(join(root, "agents")))
    for (const name of [`${slug}.md`, "tasks.md"])
      characters += readFileSync(join(root, "agents", slug, name), "utf8").length;
  return { characters, coldMs: performance.now() - startedMs };
}

async function claim(): Promise<object> {
  const path = "agents/dev/tasks.md";
  mkdirSync(join(root, "agents/dev"), { recursive: true });
  const other = join(root, "plain.md");
  for (const file of [join(root, path), other]) writeFileSync(file, tasksText(LONG));
  const parses: number[] = [];
  const claims: number[] = [];
  const plains: number[] = [];
  const folder = new TeamFolder({ root, clock });
  for (let round = 0; round < ROUNDS; round++) {
    const text = readFileSync(join(root, path), "utf8");
    parses.push(await time(() => void readTasks(text)));
    claims.push(await time(() => folder.editFrom(path, nextReady)));
    plains.push(await time(() => replacePlainly(other)));
  }
  return {
    parseMs: percentile(parses, 50),
    claimMs: percentile(claims, 50),
    plainMs: percentile(plains, 50),
  };
}

async function tick(): Promise<object> {
  makeTeam();
  const folder = new TeamFolder({ root, clock });
  const edit: FileEdit = { file: "tasks", edit: { kind: "tick", stamp: toStamp(clock(), "UTC") } };
  const slugs = readdirSync(join(root, "agents"));
  const allMs = await time(async () => {
    for (const slug of slugs) await folder.edit(`agents/${slug}/tasks.md`, edit);
  });
  const plainMs = await time(() => {
    for (const slug of slugs) replacePlainly(join(root, `agents/${slug}/tasks.md`));
  });
  return { members: slugs.length, allMs, plainMs };
}

function nextReady(text: string): FileEdit | undefined {
  const task = readTasks(text).tasks.find(({ status }) => status === "ready");
  if (task === undefined) return undefined;
  const { title, ordinal } = task;
  return { file: "tasks", edit: { kind: "claim", task: { title, ordinal }, stamp: toStamp(clock(), "UTC") } };
}

/** As a script does it: read, change one word, write a new file, rename it. */
function replacePlainly(path: string): void {
  const text = readFileSync(path, "utf8").replace("**Status:** ready", "**Status:** in-progress");
  writeFileSync(`${path}~`, text);
  renameSync(`${path}~`, path);
}

async function time(work: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function makeTeam(): void {
  for (let member = 0; member < MEMBERS; member++) {
    const slug = `member-${member}`;
    const folder = join(root, "agents", slug);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${slug}.md`), noteText(slug));
    writeFileSync(join(folder, "tasks.md"), tasksText(TASKS));
  }
}

function noteText(name: string): string {
  return `---\nname: ${name}\nproject: ~/Projects/${name}\nstatus: active\njoined: 2026-03-28\n---\n\n## Role\nBuild and maintain ${name}.\n\n## Projects\n- ${name} — primary project\n\n## Capabilities\n- TypeScript\n\n## Session Log\nLast session: 2026-03-28\nStatus: active\n`;
}

/** Half of them are done, as in a file that nobody has tidied. */
function tasksText(count: number): string {
  const task = (_: unknown, index: number) => {
    const isDone = index < count / 2;
    const times = "**Started:** 2026-03-28T10:15\n**Completed:** 2026-03-28T11:42\n";
    const summary = `\n### Summary\nTask ${index} is done, with tests.\n`;
    return `## Task ${index}\n**Status:** ${isDone ? "done" : "ready"}\n${isDone ? times : ""}\nWhat is to be done in task ${index}, in a sentence of some length.\n${isDone ? summary : ""}`;
  };
  return `${Array.from({ length: count }, task).join("\n")}\n<!-- cortex:last-tick 2026-03-28T11:42 -->\n`;
}
