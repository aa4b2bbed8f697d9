/** Starts or resumes a task: claims it in the file, then orders a turn or starts a relay. */
import { CortexError } from "../../model/errors.ts";
import { DEFAULT_AGENT, type ItemId, type RelayId } from "../../model/ids.ts";
import { isJsonObject, type Json } from "../../model/json.ts";
import { MAIN_SESSION } from "../../model/session-key.ts";
import { dutyOf } from "./duty.ts";
import { buildTaskPrompt } from "./prompts.ts";
import { findProject, type MemberFiles, readProjects } from "../members/member-files.ts";
import type { CurrentTask, MemberState } from "./member-state.ts";
import { joinWords, type TaskWords, wordsOfTask } from "./task-labels.ts";
import { OWNER_PRINCIPAL } from "../../model/principal.ts";
import { narrowingByDenied } from "../../personas/permissions.ts";
import { projectPathOf } from "../files/team.ts";
import {
  agentOf,
  type Assignee,
  closedTo,
  labelAndPrincipal,
  narrowingFor,
  turnOrder,
} from "./order-turn.ts";
import { findTask, readTasks } from "../markdown/read-tasks.ts";
import { causeOfTask } from "./task-causes.ts";
import type { Task } from "../markdown/task.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import type { Workplace } from "./workplace.ts";

export type WorkStart =
  | { readonly kind: "turn"; readonly item: ItemId }
  | { readonly kind: "relay"; readonly relay: RelayId }
  /** The task was claimed, done or removed by others. */
  | { readonly kind: "lost" }
  /** The task cannot be worked on. */
  | { readonly kind: "unfit"; readonly reason: string };

interface Beginning {
  readonly work: CurrentTask;
  readonly state: MemberState;
  /** The task is claimed for the first time, and was ready a moment ago. */
  readonly isFresh: boolean;
}

/** Idempotent: the same work is requested once. */
export async function beginWork(
  member: MemberFiles,
  { work, state, isFresh }: Beginning,
  place: Workplace,
): Promise<WorkStart> {
  const { team, store, slots } = place;
  const { slug, isCoordinator, note, noteText, tasksPath } = member;
  const task = await claimTask(tasksPath, { work, isFresh }, team.folder);
  if (task === undefined) return { kind: "lost" };
  if (slug === DEFAULT_AGENT) return { kind: "unfit", reason: OWNERS_SESSION };
  const project = await findProject(member, place);
  if (project.kind === "missing") return { kind: "unfit", reason: project.why };
  const words = await wordsOfPrompt(member, task, state, place);
  const duty = isCoordinator ? await dutyOf(member, place) : {};
  const assignee = { slug, isCoordinator, project: project.path, ...duty };
  if (task.template !== undefined)
    return startRelay({ ...task, template: task.template }, { work, state, assignee, words }, place);
  const prompt = buildTaskPrompt({
    name: note.name || slug,
    isCoordinator,
    note: noteText,
    projects: await readProjects(member, team.folder),
    task,
    isResumed: !isFresh,
  });
  const order = turnOrder({ prompt, words, work, state }, assignee, place);
  const item = await slots.withSlot(async (claim) => {
    const ordered = await store.team.order({ ...order, ...(claim === undefined ? {} : { claim }) });
    return { result: ordered.item, claim: ordered.claim };
  });
  return { kind: "turn", item };
}

/** Registering rejects the name, but a note may be written by hand. */
const OWNERS_SESSION = `${MAIN_SESSION} is the owner's own session; a member that Cortex runs needs another name`;

/** What its steps may not do, and what the author of the task may not. */
function narrowedFor(assignee: Assignee, given: Json | undefined): Json {
  const { deny } = narrowingFor(assignee).tools;
  if (!isJsonObject(given)) return { tools: { deny }, authority: "owner" };
  const tools = isJsonObject(given["tools"]) ? given["tools"] : {};
  const denied = Array.isArray(tools["deny"]) ? tools["deny"] : [];
  return { ...given, tools: { ...tools, deny: [...denied, ...deny] } };
}

/**
 * Whose words a turn for this task reads: those of the task, of all others who wrote to its file, and of the notes. It acts
 * on the authority of those who wrote the task.
 */
async function wordsOfPrompt(
  member: MemberFiles,
  task: Task,
  state: MemberState,
  place: Pick<Workplace, "labels" | "store" | "team">,
): Promise<TaskWords> {
  const { labels } = place;
  const { notePath, tasksPath, note } = member;
  const { label, principals } = await labels.ofRest(tasksPath);
  const notes = await labels.ofFiles([notePath, ...note.projects.map((slug) => projectPathOf(slug))]);
  const [principal = OWNER_PRINCIPAL] = principals;
  const rest =
    principal === OWNER_PRINCIPAL ? undefined : { ...narrowingByDenied(label.denied), authority: "source" };
  return joinWords([
    await wordsOfTask(task, state, place),
    { label, principal, permissions: rest },
    { label: notes, principal: OWNER_PRINCIPAL, permissions: undefined },
  ]);
}

/** Claims the task in the file. Undefined: it is not ours. */
async function claimTask(
  tasksPath: string,
  { work, isFresh }: Pick<Beginning, "work" | "isFresh">,
  folder: TeamFolder,
): Promise<Task | undefined> {
  const { title, ordinal, started } = work;
  const { text, edit } = await folder.editFrom(tasksPath, (now) => {
    const task = { title, ordinal }; // another task with this title may have been started in the same minute
    if (started === undefined || findTask(readTasks(now), task)?.status !== "ready") return undefined;
    return { file: "tasks", edit: { kind: "claim", task, stamp: started } };
  });
  const task = findTask(readTasks(text), work);
  if (task?.status !== "in-progress" || task.started !== started) return undefined;
  return isFresh && edit === undefined ? undefined : task; // claimed by another program in the same minute
}

/** Starts the relay of a task with a template, or finds the one that this work started before. */
async function startRelay(
  task: Task & { readonly template: string },
  {
    work,
    state,
    assignee,
    words,
  }: Omit<Beginning, "isFresh"> & { readonly assignee: Assignee; readonly words: TaskWords },
  { apis, settings, team: { root } }: Workplace,
): Promise<WorkStart> {
  const cause = causeOfTask(work.gist, state);
  try {
    const { id } = await apis.relays.run({
      name: task.template,
      kind: "template",
      message: task.body === "" ? task.title : `${task.title}\n\n${task.body}`,
      dir: assignee.project,
      channel: "team",
      startedBy: { persona: agentOf(assignee, settings).persona },
      idempotencyKey: `team:${work.id}`,
      permissions: narrowedFor(assignee, words.permissions),
      ...labelAndPrincipal(words),
      hidden: closedTo(root),
      resumes: true,
      metadata: { trigger: "team", team: root, member: assignee.slug, task: task.title },
      ...(cause === undefined ? {} : { cause }),
    });
    return { kind: "relay", relay: id };
  } catch (error) {
    if (!(error instanceof CortexError) || error.transient) throw error; // not the task's fault
    return { kind: "unfit", reason: error.message };
  }
}
