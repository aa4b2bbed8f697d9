/** What briefing and review tell of a team: counted from its files, nothing guessed. */
import { blockerOf, flagOf } from "../markdown/flag.ts";
import type { LivenessState } from "../files/liveness.ts";
import { stampMs } from "../markdown/stamp.ts";
import type { Task } from "../markdown/task.ts";
import type { Member, Team } from "../files/team.ts";

export interface MemberName {
  readonly slug: string;
  readonly name: string;
}

export interface Totals {
  /** Those who have left are not counted, and neither are their tasks. */
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
  /** As written; undefined: it does not say. */
  readonly started: string | undefined;
  readonly forMs: number | undefined;
  /** The line `Progress:` of a task that stands for somebody else's file. */
  readonly progress: string | undefined;
}

export interface Blocked {
  readonly member: MemberName;
  /** Undefined: the session log says so, and not of which task. */
  readonly title: string | undefined;
  readonly reason: string;
  readonly since: string | undefined;
}

/** Somebody who has something to do and does not do it. */
export interface Missing {
  readonly member: MemberName;
  readonly state: Extract<LivenessState, "down" | "never-started" | "inactive">;
  readonly active: number;
  readonly ageMs: number | undefined;
}

export interface Upcoming {
  readonly member: MemberName;
  readonly ready: number;
  /** Of the first ones, in the order in which they will be taken. */
  readonly titles: readonly string[];
}

/** What briefing and review both tell. */
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

/** More would be a copy of the task file. */
const MAX_NEXT_TITLES = 3;

function totalsOf({ members }: Team): Totals {
  const present = members.filter(({ isInactive }) => !isInactive);
  const sum = (count: (member: Member) => number): number =>
    present.reduce((total, member) => total + count(member), 0);
  return {
    members: present.length,
    fresh: sum(({ liveness }) => (liveness.state === "fresh" ? 1 : 0)),
    ready: sum(({ counts }) => counts.ready),
    inProgress: sum(({ counts }) => counts.inProgress),
    done: sum(({ counts }) => counts.done),
  };
}

export function memberName({ slug, note }: Member): MemberName {
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
    // The log tells again of the task that was flagged last.
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

function presentMembers({ members }: Team): Member[] {
  return members.filter(({ isInactive }) => !isInactive);
}

function flaggedTask(member: Member, task: Task): Blocked[] {
  const flag = flagOf(task);
  if (flag === undefined) return [];
  return [{ member: memberName(member), title: task.title, reason: flag.reason, since: flag.stamp }];
}

function elapsed(stamp: string | undefined, { atMs, timezone }: Team): number | undefined {
  const fromMs = stamp === undefined ? undefined : stampMs(stamp, timezone);
  return fromMs === undefined ? undefined : Math.max(0, atMs - fromMs);
}
