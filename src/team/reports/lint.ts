/**
 * All deviations of a team directory from the protocol. None stops the team: every file is read as well as possible. A
 * finding says how the deviation was read, and how to fix it.
 *
 * The rules, by where they are checked:
 *
 * - task files (`read-tasks.ts`): title-empty, title-doubled, status-unknown, status-misplaced, status-malformed,
 *   metadata-order, metadata-doubled, metadata-indented, stamp-invalid, started-missing, completed-missing,
 *   in-progress-several, fence-open, tick-invalid, tick-doubled, tick-misplaced
 * - notes of members and projects (`read-note.ts`, `note-frontmatter.ts`): frontmatter and sections
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
import { slugOf } from "../markdown/slug.ts";
import { COORDINATOR, inOrder, type TeamMember, type Team, type TeamProblem } from "../files/team.ts";
import { legacyNotePath } from "../members/register-member.ts";
import { TEMPLATES } from "../members/templates.ts";

export interface TeamFinding extends TeamProblem {
  /** Whether `repair` can fix it without losing data. */
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
  return inOrder(found).map((problem) => Object.assign({}, problem, { isRepairable: isRepairable(problem) }));
}

function problemsOfWhole(team: Team): TeamProblem[] {
  const { root, members } = team;
  const problems = [...oldNotes(root), ...missingTemplates(root)];
  if (!members.some(({ slug }) => slug === COORDINATOR))
    problems.push({
      file: `agents/${COORDINATOR}`,
      line: 1,
      rule: "coordinator-missing",
      message: "the team has no coordinator to look after its members",
      hint: "Run `cortex team init` to create one.",
    });
  const byName = Map.groupBy(members, ({ slug, note }) => slugOf(note.name) ?? slug);
  for (const [name, [first, ...others]] of byName)
    for (const { slug, notePath } of others)
      problems.push({
        file: notePath,
        line: fieldLine(team, notePath, "name"),
        rule: "name-doubled",
        message: `the names of ${[first?.slug, slug].join(" and ")} both yield the slug "${name}"`,
        hint: "Rename one of them; until then, their folders distinguish them.",
      });
  for (const { notePath, note } of members)
    if (note.name !== "" && slugOf(note.name) === undefined)
      problems.push({
        file: notePath,
        line: fieldLine(team, notePath, "name"),
        rule: "name-odd",
        message: `the name ${JSON.stringify(note.name)} yields no slug; that of the folder is used`,
        hint: "Use at least one letter from a to z, or a digit.",
      });
  return problems;
}

function missingTemplates(root: string): TeamProblem[] {
  const missing = Object.keys(TEMPLATES).filter((file) => !existsSync(join(root, file)));
  return missing.map((file) => ({
    file,
    line: 1,
    rule: "template-missing",
    message: "missing template; new notes use the protocol's",
    hint: "Run `cortex team init` to create it.",
  }));
}

/** Notes in the old layout: all next to each other in `agents`. */
function oldNotes(root: string): TeamProblem[] {
  const folder = join(root, "agents");
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const slugs = readdirSync(folder).flatMap((name) => (name.endsWith(".md") ? [name.slice(0, -3)] : []));
  const old = slugs.filter((slug) => slugOf(slug) === slug && !existsSync(join(folder, slug)));
  return old.map((slug) => ({
    file: legacyNotePath(slug),
    line: 1,
    rule: "layout-old",
    message: "this note is not in its member's folder, so it is not read",
    hint: "Run `cortex team import` to import the old layout.",
  }));
}

function problemsOfProject(member: TeamMember, team: Team, home: string): TeamProblem[] {
  const { note, notePath, isInactive } = member;
  const problems: TeamProblem[] = [];
  if (!isInactive && note.project !== undefined) {
    const path = expandPath(note.project, { user: home, from: team.root });
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
      problems.push({
        file: notePath,
        line: fieldLine(team, notePath, "project"),
        rule: "project-missing",
        message: `the project "${note.project}" is not a folder on this machine`,
        hint: "Correct `project:` in the note (an absolute path, or one that starts with ~), or create the folder.",
      });
  }
  const below = findSection(note.sections, "Projects")?.line ?? 0;
  for (const project of note.projects)
    if (!team.projects.some(({ slug }) => slug === project))
      problems.push({
        file: notePath,
        line: lineOf(team, notePath, (written) => written.includes(project), below),
        rule: "project-unknown",
        message: `missing note projects/${project}.md`,
        hint: `Run \`cortex team project ${project}\` to create it.`,
      });
  return problems;
}

/** A member without work or with a runtime is fine. Otherwise, Cortex may be meant to run it. */
function foreignProblems(member: TeamMember, team: Team): TeamProblem[] {
  const { slug, note, notePath, isWaitedFor } = member;
  if (!isWaitedFor || note.runtime !== undefined) return [];
  const line = fieldLine(team, notePath, "name");
  return [
    {
      file: notePath,
      line,
      rule: "runtime-missing",
      message: "the note names no runtime, so Cortex does not run this member",
      hint: `Run \`cortex team adopt ${slug}\` to have Cortex run it, or set \`runtime: ${FOREIGN_RUNTIME}\` if another program does.`,
    },
  ];
}

/** Left by git in a merge conflict. */
function conflictMarks(team: Team, file: string): TeamProblem[] {
  const at = linesOf(team, file).findIndex((line) => line.startsWith("<<<<<<< "));
  if (at === -1) return [];
  return [
    {
      file,
      line: at + 1,
      rule: "conflict-marks",
      message: "unresolved git merge conflict",
      hint: "Resolve it, and remove the lines that start with <<<<<<<, ======= and >>>>>>>.",
    },
  ];
}

/** The line of a field of a note, from 1. */
function fieldLine(team: Team, file: string, name: string): number {
  return lineOf(team, file, (written) => written.startsWith(`${name}:`));
}

/** The first match after `below` lines, from 1. */
function lineOf(team: Team, file: string, isMeant: (written: string) => boolean, below = 0): number {
  return linesOf(team, file).findIndex((written, at) => at >= below && isMeant(written)) + 1 || 1;
}

function linesOf({ root, problems }: Team, file: string): string[] {
  if (problems.some((problem) => problem.file === file && NOT_READ.has(problem.rule))) return [];
  try {
    return readFileSync(join(root, file), "utf8").split("\n");
  } catch {
    return []; // gone since the team was read; reported next time
  }
}

/** Files with these problems are not read. */
const NOT_READ = new Set(["file-too-large", "file-unreadable", "link-outside", "not-utf8", "tasks-missing"]);
