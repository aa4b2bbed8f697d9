/** Reads a task file as people, other agents and Cortex write it. Nothing is rejected: deviations become problems. */
import { isStamp } from "./stamp.ts";
import { asStatus, type Task, type TaskFile, type TaskRef } from "./task.ts";
import {
  blocksOf,
  findByRef,
  type MetadataName,
  metadataOf,
  partOf,
  sectionOf,
  type TaskBlock,
  TICK_PREFIX,
} from "./task-blocks.ts";
import { problemsOf } from "./task-problems.ts";

export function readTasks(text: string): TaskFile {
  const blocks = blocksOf(text);
  const ticks = blocks.outline.ticks.filter(({ prefix, stamp }) => prefix === TICK_PREFIX && isStamp(stamp));
  const tick = ticks.at(-1);
  return {
    tasks: blocks.tasks.map((block) => taskOf(text, block)),
    tick: tick && { stamp: tick.stamp, line: tick.line },
    problems: problemsOf(text, blocks),
  };
}

export function findTask(file: Pick<TaskFile, "tasks">, task: TaskRef): Task | undefined {
  return findByRef(file.tasks, task);
}

function taskOf(text: string, block: TaskBlock): Task {
  const value = (wanted: MetadataName): string | undefined => metadataOf(block, wanted)?.value || undefined;
  const summary = sectionOf(block, "Summary");
  return {
    title: block.title,
    ordinal: block.ordinal,
    status: asStatus(block.status.value),
    statusText: block.status.value,
    started: value("Started"),
    completed: value("Completed"),
    template: value("Template"),
    external: value("External"),
    body: (summary === undefined
      ? partOf(text, block, block.bodyStart, block.end)
      : partOf(text, block, block.bodyStart, summary.start) + partOf(text, block, summary.end, block.end)
    ).trim(),
    summary: summary && partOf(text, block, summary.textStart, summary.end).trim(),
    line: block.heading.line,
    text: partOf(text, block, block.heading.start, block.end),
  };
}
