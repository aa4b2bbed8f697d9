/**
 * Everything in a team directory that is not as the protocol has it. None of it stops the team: each file is read as well
 * as it can be. Here it is said what was made of it, and what to do.
 *
 * The rules, by where they are found:
 *
 * - task files (`task-problems.ts`): title-empty, title-doubled, status-unknown, status-misplaced, status-malformed,
 *   metadata-order, metadata-doubled, metadata-indented, stamp-invalid, started-missing, completed-missing,
 *   in-progress-several, fence-open, tick-invalid, tick-doubled, tick-misplaced
 * - notes of members and projects (`read-note.ts`, `read-project.ts`): frontmatter and sections
 * - folders and whole files (`team-problems.ts`, `read-cache.ts`): note-missing, tasks-missing, slug-odd, conflict-copy,
 *   link-outside, file-unreadable, file-too-large, not-utf8, tick-ahead, task-removed, external-missing,
 *   external-unreadable, external-empty
 * - the team as a whole (here): coordinator-missing, template-missing, layout-old, name-doubled, name-odd,
 *   project-missing, project-unknown, runtime-missing, conflict-marks
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { expandPath } from "../../config/team-config.ts";
import { FOREIGN_RUNTIME } from "../files/adoption.ts";
import { findSection } from "../markdown/note-sections.ts";
import { isRepairable } from "./repair.ts";
import { toSlug } from "../markdown/slug.ts";
import { COORDINATOR, inOrder, type Member, type Team, type TeamProblem } from "../files/team.ts";
import { TEMPLATES } from "../members/templates.ts";

export interface TeamFinding extends TeamProblem {
  /** Whether `repair` can do it without losing anything. */
  readonly isRepairable: boolean;
}

/** `home` is the folder that `~` stands for. */
export function lintTeam(team: Team, home: string): TeamFinding[] {
  const found: TeamProblem[] = [...team.problems, ...problemsOfWhole(team)];
  for (const member of team.members) {
    found.push(...problemsOfProject(member, team, home), ...foreignProblems(member, team));
    for (const file of [member.notePath, member.tasksPath]) found.push(...conflictMarks(team, file));
  }
  for (const { path } of team.projects) found.push(...conflictMarks(team, path));
  const findings: TeamFinding[] = [];
  for (const problem of inOrder(found)) findings.push({ ...problem, isRepairable: isRepairable(problem) });
  return findings;
}

function problemsOfWhole(team: Team): TeamProblem[] {
  const { root, members } = team;
  const problems = [
    ...oldNotes(root),
    ...Object.keys(TEMPLATES)
      .filter((file) => !existsSync(join(root, file)))
      .map(templateMissing),
  ];
  if (!members.some(({ slug }) => slug === COORDINATOR)) problems.push(coordinatorMissing());
  const byName = Map.groupBy(members, ({ slug, note }) => slugOf(note.name) ?? slug);
  for (const [name, [first, ...others]] of byName)
    for (const { slug, notePath } of others)
      problems.push(
        nameDoubled({ file: notePath, line: fieldLine(team, notePath, "name") }, name, first!, slug),
      );
  for (const { notePath, note } of members)
    if (note.name !== "" && slugOf(note.name) === undefined)
      problems.push(nameWithoutSlug({ file: notePath, line: fieldLine(team, notePath, "name") }, note.name));
  return problems;
}

/** Notes of members stood beside each other once, each a file of `agents`. */
function oldNotes(root: string): TeamProblem[] {
  const folder = join(root, "agents");
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const names = readdirSync(folder).filter(
    (name) => name.endsWith(".md") && slugOf(name.slice(0, -3)) === name.slice(0, -3),
  );
  return names
    .filter((name) => !existsSync(join(folder, name.slice(0, -3))))
    .map((name) => layoutOld(`agents/${name}`));
}

function problemsOfProject(member: Member, team: Team, home: string): TeamProblem[] {
  const { note, notePath, isInactive } = member;
  const problems: TeamProblem[] = [];
  if (!isInactive && note.project !== undefined) {
    const path = expandPath(note.project, { user: home, from: team.root });
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
      problems.push(
        projectMissing({ file: notePath, line: fieldLine(team, notePath, "project") }, note.project),
      );
  }
  for (const project of note.projects)
    if (!team.projects.some(({ slug }) => slug === project)) {
      const below = findSection(note.sections, "Projects")?.line ?? 0;
      const line = lineOf(team, notePath, (written) => written.includes(project), below);
      problems.push(projectUnknown({ file: notePath, line }, project));
    }
  return problems;
}

/** A note that says who runs the member is left at that. One that does not, of somebody who does nothing, may be meant for us. */
function foreignProblems(member: Member, team: Team): TeamProblem[] {
  const { slug, note, notePath, isWaitedFor } = member;
  if (!isWaitedFor || note.runtime !== undefined) return [];
  const line = fieldLine(team, notePath, "name");
  return [
    {
      file: notePath,
      line,
      rule: "runtime-missing",
      message: "the note does not say who runs this member, so Cortex gives it no turns",
      hint: `\`cortex team adopt ${slug}\` makes it Cortex's; \`runtime: ${FOREIGN_RUNTIME}\` in the note says that somebody else runs it.`,
    },
  ];
}

/** What git leaves of a merge that it could not do. */
function conflictMarks(team: Team, file: string): TeamProblem[] {
  const at = linesOf(team, file).findIndex((line) => line.startsWith("<<<<<<< "));
  return at === -1 ? [] : [conflictMark(file, at + 1)];
}

/** Where a field of a note stands, from 1. */
function fieldLine(team: Team, file: string, name: string): number {
  return lineOf(team, file, (written) => written.startsWith(`${name}:`));
}

/** The first one below so many lines, from 1. */
function lineOf(team: Team, file: string, isMeant: (written: string) => boolean, below = 0): number {
  return linesOf(team, file).findIndex((written, at) => at >= below && isMeant(written)) + 1 || 1;
}

function linesOf({ root, problems }: Team, file: string): string[] {
  if (problems.some((problem) => problem.file === file && NOT_READ.has(problem.rule))) return [];
  try {
    return readFileSync(join(root, file), "utf8").split("\n");
  } catch {
    return []; // gone since the team was read, and named the next time
  }
}

/** Of these files nothing is known but that. */
const NOT_READ = new Set(["file-too-large", "file-unreadable", "link-outside", "not-utf8", "tasks-missing"]);

function slugOf(name: string): string | undefined {
  try {
    return toSlug(name);
  } catch {
    return undefined; // Nothing of it is left.
  }
}

function coordinatorMissing(): TeamProblem {
  return {
    file: `agents/${COORDINATOR}`,
    line: 1,
    rule: "coordinator-missing",
    message: "the team has no coordinator, so nobody looks after its members",
    hint: "`cortex team init` makes one.",
  };
}

function templateMissing(file: string): TeamProblem {
  return {
    file,
    line: 1,
    rule: "template-missing",
    message: "the team has no such template, so new notes are made from the one of the protocol",
    hint: "`cortex team init` writes it.",
  };
}

function layoutOld(file: string): TeamProblem {
  return {
    file,
    line: 1,
    rule: "layout-old",
    message: "a note of a member lies in a folder of its own, so this one is not read",
    hint: "`cortex team import` takes over the old layout.",
  };
}

type ProblemLocation = Pick<TeamProblem, "file" | "line">;

function nameDoubled(place: ProblemLocation, name: string, first: Member, slug: string): TeamProblem {
  return {
    ...place,
    rule: "name-doubled",
    message: `the names of ${first.slug} and ${slug} both make the slug "${name}"`,
    hint: "Give one of them another name; they are told apart by their folders.",
  };
}

function nameWithoutSlug(place: ProblemLocation, name: string): TeamProblem {
  return {
    ...place,
    rule: "name-odd",
    message: `the name ${JSON.stringify(name)} leaves no slug; that of the folder is used`,
    hint: "Use at least one letter a to z or digit in it.",
  };
}

function projectMissing(place: ProblemLocation, project: string): TeamProblem {
  return {
    ...place,
    rule: "project-missing",
    message: `the project "${project}" is not a folder on this machine`,
    hint: "Correct `project:` in the note (an absolute path, or one that begins with ~), or make the folder.",
  };
}

function projectUnknown(place: ProblemLocation, project: string): TeamProblem {
  return {
    ...place,
    rule: "project-unknown",
    message: `there is no note projects/${project}.md`,
    hint: `\`cortex team project ${project}\` makes one.`,
  };
}

function conflictMark(file: string, line: number): TeamProblem {
  return {
    file,
    line,
    rule: "conflict-marks",
    message: "git has left both sides of a conflict here",
    hint: "Decide what stays, and take out the lines that begin with <<<<<<<, ======= and >>>>>>>.",
  };
}
