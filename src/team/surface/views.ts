/** A team, and what was done with it, as it is shown: over HTTP, with `--json`, on a board. What is not there is null. */
import { flagOf } from "../markdown/flag.ts";
import type { Beat } from "../work/heart.ts";
import { stampMs } from "../markdown/stamp.ts";
import { isActive, type Task, type TaskStatus } from "../markdown/task.ts";
import type { Member, Project, Team, TeamProblem } from "../files/team.ts";
import { isoTime } from "../../feature/views.ts";

export interface TaskView {
  readonly title: string;
  /** Titles may repeat: the first one of a title has 1. */
  readonly ordinal: number;
  /** Null: `statusText` is none. */
  readonly status: TaskStatus | null;
  readonly statusText: string;
  readonly started: string | null;
  readonly completed: string | null;
  /** How long it has been in progress. */
  readonly forMs: number | null;
  readonly template: string | null;
  readonly external: string | null;
  readonly body: string;
  readonly summary: string | null;
  /** Why nobody goes on with it. */
  readonly flag: { readonly reason: string; readonly since: string } | null;
  readonly line: number;
}

export interface MemberView {
  readonly slug: string;
  readonly name: string;
  readonly role: string;
  readonly project: string | null;
  readonly status: "active" | "inactive";
  readonly runtime: string | null;
  readonly isCoordinator: boolean;
  readonly isManaged: boolean;
  readonly joined: string | null;
  readonly projects: readonly string[];
  readonly capabilities: readonly string[];
  readonly session: { readonly last: string | null; readonly status: string | null };
  readonly liveness: LivenessView;
  /** As written. */
  readonly lastTick: string | null;
  readonly counts: Member["counts"];
  readonly notices: readonly string[];
  readonly noteFile: string;
  readonly tasksFile: string;
}

export interface WholeMemberView extends MemberView {
  readonly tasks: readonly TaskView[];
}

interface LivenessView {
  readonly state: Member["liveness"]["state"];
  readonly ageMs: number | null;
  /** The clock of whoever wrote the tick is ahead of ours. */
  readonly isAhead: boolean;
}

interface ProjectView {
  readonly slug: string;
  readonly file: string;
  readonly status: string | null;
  readonly created: string | null;
  readonly nextActions: readonly string[];
  readonly notes: readonly string[];
}

export interface TeamView {
  readonly root: string;
  readonly at: string;
  readonly timezone: string;
  readonly members: readonly WholeMemberView[];
  readonly projects: readonly ProjectView[];
  readonly problems: readonly ProblemView[];
}

interface ProblemView {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
  readonly hint: string;
}

export type TasksShown = "all" | "active" | "none";

/** A large team has many tasks, most of them done: not everybody wants them all. */
export function teamView(team: Team, shown: TasksShown = "all"): TeamView {
  const { root, atMs, timezone, members, projects, problems } = team;
  return {
    root,
    at: isoTime(atMs),
    timezone,
    members: members.map((member) => wholeMemberView(member, team, shown)),
    projects: projects.map(projectView),
    problems: problems.map(problemView),
  };
}

export function wholeMemberView(member: Member, now: Now, shown: TasksShown = "all"): WholeMemberView {
  return { ...memberView(member), tasks: tasksOf(member, now, shown) };
}

/** When the files were read, and by which clock on the wall. */
type Now = Pick<Team, "atMs" | "timezone">;

export function memberView(member: Member): MemberView {
  const { slug, note, isCoordinator, isManaged, counts, liveness, tasks } = member;
  const { name, role, project, status, runtime, joined, projects, capabilities, log } = note;
  return {
    slug,
    name: name || slug,
    role,
    project: project ?? null,
    status,
    runtime: runtime ?? null,
    isCoordinator,
    isManaged,
    joined: joined ?? null,
    projects,
    capabilities,
    session: { last: log.last ?? null, status: log.status ?? null },
    liveness: {
      state: liveness.state,
      ageMs: liveness.ageMs ?? null,
      isAhead: liveness.state === "fresh" && liveness.isAhead,
    },
    lastTick: tasks.tick?.stamp ?? null,
    counts,
    notices: member.notices,
    noteFile: member.notePath,
    tasksFile: member.tasksPath,
  };
}

function tasksOf({ tasks: { tasks } }: Member, now: Now, shown: TasksShown): TaskView[] {
  if (shown === "none") return [];
  return (shown === "all" ? tasks : tasks.filter(isActive)).map((task) => taskView(task, now));
}

function taskView(task: Task, now: Now): TaskView {
  const { title, ordinal, status, statusText, started, completed, template, external, body, summary, line } =
    task;
  const flag = flagOf(task);
  return {
    title,
    ordinal,
    status: status ?? null,
    statusText,
    started: started ?? null,
    completed: completed ?? null,
    forMs: status === "in-progress" ? sinceStart(started, now) : null,
    template: template ?? null,
    external: external ?? null,
    body,
    summary: summary ?? null,
    flag: flag === undefined ? null : { reason: flag.reason, since: flag.stamp },
    line,
  };
}

function sinceStart(started: string | undefined, { atMs, timezone }: Now): number | null {
  const startedMs = started === undefined ? undefined : stampMs(started, timezone);
  return startedMs === undefined ? null : Math.max(0, atMs - startedMs);
}

function projectView({ slug, path, note }: Project): ProjectView {
  const { status, created, nextActions, notes } = note;
  return { slug, file: path, status: status ?? null, created: created ?? null, nextActions, notes };
}

function problemView({ file, line, rule, message, hint }: TeamProblem): ProblemView {
  return { file, line, rule, message, hint };
}

export interface BeatView {
  readonly agent: string;
  readonly state: Beat["state"];
  readonly task: { readonly title: string; readonly ordinal: number } | null;
  readonly detail: string | null;
}

export function beatView({ agent, state, task, detail }: Beat): BeatView {
  const working = task === undefined ? null : { title: task.title, ordinal: task.ordinal };
  return { agent, state, task: working, detail: detail ?? null };
}
