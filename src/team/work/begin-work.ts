/** Begins with a task, or goes on from wherever it was cut off: claimed in the file, then asked for as a turn or a relay. */
import { CortexError } from "../../model/errors.ts";
import { DEFAULT_AGENT, type EventId, type ItemId } from "../../model/ids.ts";
import { MAIN_SESSION } from "../../model/session-key.ts";
import { coordinatorDuty } from "./duty.ts";
import { findProject, type MemberFiles, readProjects } from "../members/member-files.ts";
import type { MemberState, Work } from "./member-state.ts";
import { closedTo, narrowingFor, orderTurn } from "./order-turn.ts";
import { buildTaskPrompt } from "./prompt.ts";
import { findTask, readTasks } from "../markdown/read-tasks.ts";
import { causeOfTask } from "./task-causes.ts";
import type { Task } from "../markdown/task.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import type { WorkParts } from "./workplace.ts";

export type Begun =
  | { readonly kind: "turn"; readonly item: ItemId }
  | { readonly kind: "relay"; readonly relay: string }
  /** Somebody else has taken the task, done it or removed it. */
  | { readonly kind: "lost" }
  /** Nobody can work on it as it is. */
  | { readonly kind: "unfit"; readonly reason: string };

export interface Beginning {
  readonly work: Work;
  readonly state: MemberState;
  /** It is claimed for the first time, and was ready a moment ago. */
  readonly isFresh: boolean;
}

/** May be repeated: the same work is asked for once. */
export async function beginWork(
  member: MemberFiles,
  { work, state, isFresh }: Beginning,
  parts: WorkParts,
): Promise<Begun> {
  const { folder, store } = parts;
  const { slug, isCoordinator, note, noteText, tasksPath } = member;
  const task = await claimTask(tasksPath, { work, isFresh }, folder);
  if (task === undefined) return { kind: "lost" };
  if (slug === DEFAULT_AGENT) return { kind: "unfit", reason: OWNERS_SESSION };
  const project = await findProject(member, { ...parts, root: folder.root });
  if (project.kind === "missing") return { kind: "unfit", reason: project.why };
  const duty = isCoordinator ? { duty: coordinatorDuty(member, folder.root) } : {};
  const given = { slug, isCoordinator, project: project.path, ...duty };
  if (task.template !== undefined)
    return startRelay(
      { ...task, template: task.template },
      { work, given, cause: causeOfTask(work.gist, state) },
      parts,
    );
  const prompt = buildTaskPrompt({
    name: note.name || slug,
    isCoordinator,
    note: noteText,
    projects: await readProjects(member, folder),
    task,
    isResumed: !isFresh,
  });
  const order = orderTurn({ prompt, work, state }, given, parts);
  const item = await parts.withSlot(async (claim) => {
    const ordered = await store.team.order({ ...order, ...(claim === undefined ? {} : { claim }) });
    return { result: ordered.item, claim: ordered.claim };
  });
  return { kind: "turn", item };
}

/** Registering refuses the name; a note may have been written by hand. */
const OWNERS_SESSION = `${MAIN_SESSION} is the owner's own session: a member that Cortex runs needs another name`;

/** The task, where it is in progress for us. */
async function claimTask(
  tasksPath: string,
  { work, isFresh }: Pick<Beginning, "work" | "isFresh">,
  folder: TeamFolder,
): Promise<Task | undefined> {
  const { title, ordinal, started } = work;
  const { text, edit } = await folder.editFrom(tasksPath, (now) => {
    const task = { title, ordinal }; // another of this title may have been started in the same minute
    if (started === undefined || findTask(readTasks(now), task)?.status !== "ready") return undefined;
    return { file: "tasks", edit: { kind: "claim", task, stamp: started } };
  });
  const task = findTask(readTasks(text), work);
  if (task?.status !== "in-progress" || task.started !== started) return undefined;
  return isFresh && edit === undefined ? undefined : task; // claimed by somebody else in the same minute
}

async function startRelay(
  task: Task & { readonly template: string },
  {
    work,
    given,
    cause,
  }: {
    readonly work: Work;
    readonly given: { slug: string; isCoordinator: boolean; project: string };
    readonly cause: EventId | undefined;
  },
  { relays, agentFor, folder }: WorkParts,
): Promise<Begun> {
  const { slug, project } = given;
  try {
    const relay = await relays.run({
      key: work.id,
      template: task.template,
      message: task.body === "" ? task.title : `${task.title}\n\n${task.body}`,
      folder: project,
      persona: agentFor(slug, project).persona,
      permissions: { ...(narrowingFor(given) as object), authority: "owner" },
      hidden: closedTo(folder.root),
      metadata: { team: folder.root, member: slug, task: task.title },
      ...(cause === undefined ? {} : { cause }),
    });
    return { kind: "relay", relay };
  } catch (error) {
    if (!(error instanceof CortexError) || error.transient) throw error; // not the task's fault
    return { kind: "unfit", reason: error.message };
  }
}
