/** A team as its files say it is at one moment. Nothing here is kept anywhere else: to know more, read again. */
import type { Liveness } from "./liveness.ts";
import type { MemberNote } from "../markdown/read-note.ts";
import type { ProjectNote } from "../markdown/read-project.ts";
import type { FileProblem, TaskFile } from "../markdown/task.ts";

/** This slug alone makes a member the coordinator. */
export const COORDINATOR = "chief-of-staff";

export interface Team {
  readonly root: string;
  readonly atMs: number;
  readonly timezone: string;
  /** By slug. */
  readonly members: readonly Member[];
  /** By slug. */
  readonly projects: readonly Project[];
  /** By file and line. */
  readonly problems: readonly TeamProblem[];
}

export interface Member {
  readonly slug: string;
  /** Below the team directory, with `/`. */
  readonly notePath: string;
  readonly tasksPath: string;
  readonly note: MemberNote;
  readonly tasks: TaskFile;
  readonly isCoordinator: boolean;
  /** Cortex works on its tasks. */
  readonly isManaged: boolean;
  /** Not on the team any more: gets no ticks and no tasks. */
  readonly isInactive: boolean;
  /** Nobody seems to run it although there is something to do. */
  readonly isWaitedFor: boolean;
  readonly counts: TaskCounts;
  readonly tickMs: number | undefined;
  readonly liveness: Liveness;
  /** What people should know of it: sentences, in Markdown. */
  readonly notices: readonly string[];
}

export interface TaskCounts {
  readonly ready: number;
  readonly inProgress: number;
  readonly done: number;
  /** With a status that is none. */
  readonly unknown: number;
}

export interface Project {
  readonly slug: string;
  readonly path: string;
  readonly note: ProjectNote;
}

export interface TeamProblem extends FileProblem {
  /** Below the team directory, with `/`. */
  readonly file: string;
}

export function findMember(team: Team, slug: string): Member | undefined {
  return team.members.find((member) => member.slug === slug);
}

/** By file and line. */
export function inOrder<Problem extends TeamProblem>(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => inOrderOfNames(a.file, b.file) || a.line - b.line);
}

/** Of their characters: the same on every machine, whatever its language. */
export function inOrderOfNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
