/** A team as read from its files at one moment. Nothing of this is stored anywhere else. */
import { type Label, NO_LABEL } from "../../model/trust.ts";
import type { Liveness } from "./liveness.ts";
import type { MemberNote, ProjectNote } from "../markdown/read-note.ts";
import type { FileProblem, TaskFile } from "../markdown/task.ts";

/** The slug that makes a member the coordinator. */
export const COORDINATOR = "chief-of-staff";

/** What members write that other programs run: nobody records whose words it is. */
export const OF_OTHER_PROGRAMS: Label = { ...NO_LABEL, untrusted: ["team"] };

/** Of the name of a member. */
export const MAX_NAME_LENGTH = 100;

/** Paths are below the team directory, with `/`. */
export function notePathOf(slug: string): string {
  return `agents/${slug}/${slug}.md`;
}

export function tasksPathOf(slug: string): string {
  return `agents/${slug}/tasks.md`;
}

export function projectPathOf(slug: string): string {
  return `projects/${slug}.md`;
}

export interface Team {
  readonly root: string;
  readonly atMs: number;
  readonly timezone: string;
  /** Sorted by slug. */
  readonly members: readonly TeamMember[];
  /** Sorted by slug. */
  readonly projects: readonly Project[];
  /** Sorted by file and line. */
  readonly problems: readonly TeamProblem[];
}

export interface TeamMember {
  readonly slug: string;
  /** Below the team directory, with `/`. */
  readonly notePath: string;
  readonly tasksPath: string;
  readonly note: MemberNote;
  readonly tasks: TaskFile;
  readonly isCoordinator: boolean;
  /** Cortex works on its tasks. */
  readonly isManaged: boolean;
  /** No longer on the team: gets no ticks and no tasks. */
  readonly isInactive: boolean;
  /** Has work, but nothing seems to run it. */
  readonly isWaitedFor: boolean;
  readonly counts: TaskCounts;
  readonly tickMs: number | undefined;
  readonly liveness: Liveness;
  /** Sentences for people, in Markdown. */
  readonly notices: readonly string[];
}

export interface TaskCounts {
  readonly ready: number;
  readonly inProgress: number;
  readonly done: number;
  /** With an invalid status. */
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

export function findMember(team: Team, slug: string): TeamMember | undefined {
  return team.members.find((member) => member.slug === slug);
}

/** Sorts by file and line. */
export function inOrder<Problem extends TeamProblem>(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => inOrderOfNames(a.file, b.file) || a.line - b.line);
}

/** Compares by code units: the same on every machine, whatever its locale. */
export function inOrderOfNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
