/** The facts of briefing and review, computed from the team's files. */
import { blockerOf, flagOf } from "../markdown/flag.ts";
import type { LivenessState } from "../files/liveness.ts";
import { stampMs } from "../markdown/stamp.ts";
import type { Task } from "../markdown/task.ts";
import type { TeamMember, Team } from "../files/team.ts";

export interface MemberName {
  readonly slug: string;
  readonly name: string;
}

export interface Totals {
  /** Inactive members and their tasks are not counted. */
  readonly members: number;
  /** With a fresh tick. */
  readonly fresh: number;
  readonly ready: number;
  readonly inProgress: number;
  readonly done: number;
}

export interface InProgress {
  readonly member: MemberName;
  readonly title: string;
  /** As written. */
  readonly started: string | undefined;
  readonly forMs: number | undefined;
  /** The line `Progress:` of a task that mirrors an external file. */
  readonly progress: string | undefined;
}

export interface Blocked {
  readonly member: MemberName;
  /** Undefined: the session log reports it without naming a task. */
  readonly title: string | undefined;
  readonly reason: string;
  readonly since: string | undefined;
}

/** A member that has active tasks and does not work on them. */
export interface Missing {
  readonly member: MemberName;
  readonly state: Extract<LivenessState, "down" | "never-started" | "inactive">;
  readonly active: number;
  readonly ageMs: number | undefined;
}

export interface Upcoming {
  readonly member: MemberName;
  readonly ready: number;
  /** Of the first ready tasks, in the order they will be taken. */
  readonly titles: readonly string[];
}

/** The facts that briefing and review share. */
export interface TeamFacts {
  readonly totals: Totals;
  readonly missing: readonly Missing[];
  readonly blocked: readonly Blocked[];
  readonly inProgress: readonly InProgress[];
  readonly upcoming: readonly Upcoming[];
  readonly nextActions: readonly { readonly slug: string; readonly action: string }[];
}

export function factsOf(team: Team): TeamFacts {
  return {
    totals: totalsOf(team),
    missing: missingMembers(team),
    blocked: blockedTasks(team),
    inProgress: tasksInProgress(team),
    upcoming: upcomingTasks(team),
    nextActions: nextActions(team),
  };
}

/** Listed for each member. */
const MAX_NEXT_TITLES = 3;

function totalsOf({ members }: Team): Totals {
  const present = members.filter(({ isInactive }) => !isInactive);
  const sum = (count: (member: TeamMember) => number): number =>
    present.reduce((total, member) => total + count(member), 0);
  return {
    members: present.length,
    fresh: sum(({ liveness }) => (liveness.state === "fresh" ? 1 : 0)),
    ready: sum(({ counts }) => counts.ready),
    inProgress: sum(({ counts }) => counts.inProgress),
    done: sum(({ counts }) => counts.done),
  };
}

export function memberName({ slug, note }: TeamMember): MemberName {
  return { slug, name: note.name || slug };
}

function tasksInProgress(team: Team): InProgress[] {
  return presentMembers(team).flatMap((member) =>
    member.tasks.tasks
      .filter(({ status }) => status === "in-progress")
      .map((task) => ({
        member: memberName(member),
        title: task.title,
        started: task.started,
        forMs: elapsed(task.started, team),
        progress: /^Progress: (.*)$/m.exec(task.body)?.[1]?.trim(),
      })),
  );
}

export function blockedTasks(team: Team): Blocked[] {
  return presentMembers(team).flatMap((member) => {
    const flagged = member.tasks.tasks.flatMap((task) => flaggedTask(member, task));
    const reason = blockerOf(member.note.log.status);
    // The log repeats the flag of the last flagged task.
    if (reason === undefined || flagged.length > 0) return flagged;
    return [{ member: memberName(member), title: undefined, reason, since: member.note.log.last }];
  });
}

export function missingMembers({ members }: Team): Missing[] {
  return members.flatMap((member) => {
    const { liveness, counts } = member;
    const { state, ageMs } = liveness;
    const active = counts.ready + counts.inProgress;
    if (active === 0 || state === "fresh" || state === "idle") return [];
    return [{ member: memberName(member), state, active, ageMs }];
  });
}

function upcomingTasks(team: Team): Upcoming[] {
  return presentMembers(team).flatMap((member) => {
    const titles = member.tasks.tasks.filter(({ status }) => status === "ready").map(({ title }) => title);
    if (titles.length === 0) return [];
    return [{ member: memberName(member), ready: titles.length, titles: titles.slice(0, MAX_NEXT_TITLES) }];
  });
}

function nextActions({ projects }: Team): { readonly slug: string; readonly action: string }[] {
  return projects
    .filter(({ note }) => note.status !== "inactive")
    .flatMap(({ slug, note }) => note.nextActions.map((action) => ({ slug, action })));
}

function presentMembers({ members }: Team): TeamMember[] {
  return members.filter(({ isInactive }) => !isInactive);
}

function flaggedTask(member: TeamMember, task: Task): Blocked[] {
  const flag = flagOf(task);
  if (flag === undefined) return [];
  return [{ member: memberName(member), title: task.title, reason: flag.reason, since: flag.stamp }];
}

function elapsed(stamp: string | undefined, { atMs, timezone }: Team): number | undefined {
  const fromMs = stamp === undefined ? undefined : stampMs(stamp, timezone);
  return fromMs === undefined ? undefined : Math.max(0, atMs - fromMs);
}
