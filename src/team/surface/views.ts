/** A team in the form of its schemas: for HTTP, `--json`, and a board. Undefined becomes null. */
import { flagOf } from "../markdown/flag.ts";
import type { Beat } from "../work/heart.ts";
import { stampMs } from "../markdown/stamp.ts";
import { isActive, type Task } from "../markdown/task.ts";
import type { TeamMember, Project, Team, TeamProblem } from "../files/team.ts";
import { isoTime } from "../../feature/views.ts";
import type { BeatView, MemberView, TaskView, TeamQuery, TeamView, WholeMemberView } from "./schemas.ts";
import type { z } from "zod";

/** Which tasks to show: a large team has many, most of them done. */
type ShownTasks = NonNullable<z.output<typeof TeamQuery>["tasks"]>;

export function teamView(team: Team, shown: ShownTasks = "all"): TeamView {
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

export function wholeMemberView(member: TeamMember, now: Now, shown: ShownTasks = "all"): WholeMemberView {
  return { ...memberView(member), tasks: tasksOf(member, now, shown) };
}

/** When the files were read, and in which time zone. */
type Now = Pick<Team, "atMs" | "timezone">;

export function memberView(member: TeamMember): MemberView {
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

function tasksOf({ tasks: { tasks } }: TeamMember, now: Now, shown: ShownTasks): TaskView[] {
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

function projectView({ slug, path, note }: Project): TeamView["projects"][number] {
  const { status, created, nextActions, notes } = note;
  return { slug, file: path, status: status ?? null, created: created ?? null, nextActions, notes };
}

export function problemView({ file, line, rule, message, hint }: TeamProblem): TeamView["problems"][number] {
  return { file, line, rule, message, hint };
}

export function beatView({ agent, state, task, detail }: Beat): BeatView {
  const working = task === undefined ? null : { title: task.title, ordinal: task.ordinal };
  return { agent, state, task: working, detail: detail ?? null };
}

type WithNulls<T> = T extends undefined
  ? null
  : T extends readonly (infer Item)[]
    ? readonly WithNulls<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: WithNulls<T[Key]> }
      : T;

/** Replaces undefined by null, deeply: JSON has no undefined. */
export function withNulls<T>(value: T): WithNulls<T> {
  return nulled(value) as WithNulls<T>;
}

function nulled(value: unknown): unknown {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map(nulled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, nulled(inner)]));
}
