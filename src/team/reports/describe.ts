/** A team in a few lines of Markdown, for chats and for the coordinator. */
import { count } from "../../model/count.ts";
import { CortexError } from "../../model/errors.ts";
import { memberOf } from "../members/dispatch-task.ts";
import { flagOf } from "../markdown/flag.ts";
import { formatAge } from "./format-facts.ts";
import type { NoteSection } from "../markdown/note-sections.ts";
import { isActive, type Task, type TaskStatus } from "../markdown/task.ts";
import type { TeamMember, Team } from "../files/team.ts";

/** Of a note, in prompts too. */
export const MAX_NOTE_LENGTH = 16_000;
/** Listed for each status of a member. The total is always shown. */
const MAX_TITLES = 10;
const MAX_MEMBERS = 50;

export function describeMembers({ members }: Team): string {
  if (members.length === 0) return NO_MEMBERS;
  return withRest(members.map(memberLine), MAX_MEMBERS).join("\n");
}

export const NO_MEMBERS = "The team has no members yet.";

/** Of all members, or of one. Throws `member_unknown`. */
export function describeTeamStatus(team: Team, agent?: string): string {
  const members = agent === undefined ? team.members : [memberOf(agent, team)];
  if (members.length === 0) return NO_MEMBERS;
  const blocks = members.map((member) =>
    [memberLine(member), ...noticeLines(member), ...taskLines(member)].join("\n"),
  );
  const problems = team.problems.length;
  const note =
    problems === 0 || agent !== undefined
      ? []
      : [`${count(problems, "problem")} in the files: \`cortex team lint\``];
  return [...withRest(blocks, MAX_MEMBERS), ...note].join("\n");
}

/** One member in full, with its note and its tasks. Throws `member_unknown`. */
export function describeMember(team: Team, agent: string): string {
  const member = memberOf(agent, team);
  const tasks = member.tasks.tasks.filter(isActive);
  return [
    [memberLine(member), ...noticeLines(member)].join("\n"),
    noteText(member.note.sections),
    ...tasks.slice(0, MAX_TITLES).map(({ text }) => cut(text.trim(), MAX_NOTE_LENGTH)),
    ...rest(tasks.length - MAX_TITLES, "task"),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** The note of a project. Throws `request_invalid`. */
export function describeProject({ projects }: Team, name: string): string {
  const slug = name.trim().toLowerCase();
  const project = projects.find((each) => each.slug === slug);
  if (project === undefined) {
    const known = projects.slice(0, MAX_MEMBERS).map((each) => each.slug);
    throw new CortexError("request_invalid", `Unknown project ${JSON.stringify(name)}`, {
      hint: known.length === 0 ? "The team has no projects yet." : `Known projects: ${known.join(", ")}.`,
    });
  }
  return [`- **${slug}**: ${project.note.status ?? "active"}`, noteText(project.note.sections)].join("\n\n");
}

function noteText(sections: readonly NoteSection[]): string {
  const text = sections.map(({ title, text }) => `### ${title}\n${text.trim()}`).join("\n\n");
  return cut(text, MAX_NOTE_LENGTH);
}

export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}\n[…]`;
}

function rest(more: number, noun: string): string[] {
  return more <= 0 ? [] : [`and ${count(more, `more ${noun}`)}`];
}

function memberLine({ slug, note, counts, liveness, isManaged }: TeamMember): string {
  const age = liveness.ageMs === undefined ? "" : `, last tick ${formatAge(liveness.ageMs)} ago`;
  const role = note.role === "" ? "" : ` — ${note.role}`;
  const runner = isManaged ? "" : " (runs elsewhere)";
  return `- **${slug}**${runner}: ${liveness.state.replace("-", " ")}${age}; ${counts.ready} ready, ${counts.inProgress} in progress, ${counts.done} done${role}`;
}

function noticeLines({ notices }: TeamMember): string[] {
  return notices.map((notice) => `  - note: ${notice}`);
}

function taskLines(member: TeamMember): string[] {
  return [...titlesOf(member, "in-progress"), ...titlesOf(member, "ready")];
}

function titlesOf({ tasks }: TeamMember, status: TaskStatus): string[] {
  const found = tasks.tasks.filter((task) => task.status === status);
  const word = status.replace("-", " ");
  return withRest(
    found.map((task) => `  - ${word}: ${task.title}${flagged(task)}`),
    MAX_TITLES,
  );
}

function flagged(task: Task): string {
  const flag = flagOf(task);
  return flag === undefined ? "" : ` (flagged: ${flag.reason})`;
}

function withRest(lines: readonly string[], max: number): string[] {
  const more = lines.length - max;
  return more <= 0 ? [...lines] : [...lines.slice(0, max), `  - and ${more} more`];
}
