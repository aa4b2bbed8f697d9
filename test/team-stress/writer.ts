/**
 * One of our processes: adds, claims, notes, completes and ticks, and prints each edit once it is acknowledged.
 * `node writer.ts <root> <name> <edits> <edits in each file> <seed>`
 */
import { toStamp } from "../../src/team/markdown/stamp.ts";
import { CortexError } from "../../src/model/errors.ts";
import type { FileEdit, TaskEdit } from "../../src/team/markdown/edit.ts";
import { readTasks } from "../../src/team/markdown/read-tasks.ts";
import type { TaskRef } from "../../src/team/markdown/task.ts";
import { TeamFolder } from "../../src/team/files/team-folder.ts";
import { randomFrom } from "./random.ts";

const [root, name, edits, perFile, seed] = process.argv.slice(2) as [string, string, string, string, string];
const team = new TeamFolder({ root, clock: Date.now });
const random = randomFrom(Number(seed));
let mine: TaskRef[] = [];

for (let count = 0, misses = 0; count < Number(edits); count++) {
  const index = Math.floor(count / Number(perFile));
  if (count % Number(perFile) === 0) mine = [];
  const path = `agents/member-${index}/tasks.md`;
  const edit = await tryEdit(path, chooser(count + misses));
  if (edit?.file !== "tasks") {
    count -= 1;
    misses += 1; // another one is made in its place
    continue;
  }
  keepMine(edit.edit);
  process.stdout.write(`${JSON.stringify({ path, edit })}\n`);
}

/** Undefined: its task has vanished, and is kept beside the file. Whoever works on a task finds that out too. */
async function tryEdit(path: string, choose: (text: string) => FileEdit): Promise<FileEdit | undefined> {
  try {
    return (await team.editFrom(path, choose)).edit;
  } catch (error) {
    if (!(error instanceof CortexError) || error.code !== "task_unknown") throw error;
    const { tasks } = readTasks((await team.read(path)) ?? "");
    mine = mine.filter(({ title }) => tasks.some((task) => task.title === title));
    return undefined;
  }
}

function chooser(count: number) {
  const stamp = toStamp(Date.now(), "UTC");
  const label = `${name}-${count}`;
  const draw = random();
  const task = mine[Math.floor(random() * mine.length)];
  return (text: string) => ({ file: "tasks", edit: choose(text) }) as const;

  function choose(text: string): TaskEdit {
    if (draw < 0.05) return { kind: "tick", stamp };
    if (draw < 0.5 && task !== undefined) return { kind: "note", task, stamp, text: `note of ${label}` };
    if (draw < 0.65 && task !== undefined)
      return { kind: "complete", task, stamp, summary: `done by ${label}` };
    const ready = readTasks(text).tasks.find(({ status }) => status === "ready");
    if (draw < 0.8 && ready !== undefined)
      return { kind: "claim", task: { title: ready.title, ordinal: ready.ordinal }, stamp };
    return { kind: "add", title: `Task of ${label}`, body: `What ${label} asks for.` };
  }
}

function keepMine(edit: TaskEdit): void {
  if (edit.kind === "claim") mine.push(edit.task);
  if (edit.kind === "complete") mine = mine.filter((task) => task !== edit.task);
}
