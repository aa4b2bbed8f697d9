/** What a member is told of its task. */
import type { Task } from "../markdown/task.ts";
import { cut, MAX_NOTE_LENGTH } from "../reports/describe.ts";

export interface TaskPrompt {
  readonly name: string;
  readonly isCoordinator: boolean;
  /** The text of its note. */
  readonly note: string;
  /** Of its project notes, by slug. */
  readonly projects: readonly { readonly slug: string; readonly text: string }[];
  readonly task: Task;
  /** Whether somebody has begun with it before. */
  readonly isResumed: boolean;
}

export const MAX_TASK_LENGTH = 100_000;

/** Other programs of the team protocol know a heartbeat by how its prompt begins. */
const WORKER_PREFIX = "Cortex tick:";
export const COORDINATOR_PREFIX = "Cortex custom:";

export function buildTaskPrompt(sources: TaskPrompt): string {
  const { name, isCoordinator, note, projects, task, isResumed } = sources;
  const prefix = isCoordinator ? COORDINATOR_PREFIX : WORKER_PREFIX;
  return [
    `${prefix} you are ${name}, a member of a team. Work on the task below, and on nothing else.`,
    isResumed
      ? "The task was begun before, perhaps by you: look at what is there already, and go on from it."
      : "This may be a resumption after an interruption: look at what is there before you begin.",
    RULES,
    section("Your note", cut(note, MAX_NOTE_LENGTH)),
    ...projects.map(({ slug, text }) => section(`Project ${slug}`, cut(text, MAX_NOTE_LENGTH))),
    section("Task", cut(task.text, MAX_TASK_LENGTH)),
  ].join("\n\n");
}

const RULES = `The task is already claimed for you, and the bookkeeping is not yours: when you are done, it is marked done, and your answer becomes its summary. So answer with a short summary: what you did, what changed, what is left.
If you cannot do the task, or it does not fit your role, call flag_task with the reason, and end your turn.`;

function section(title: string, text: string): string {
  return `--- ${title} ---\n${text.trim()}\n--- end of ${title.toLowerCase()} ---`;
}
