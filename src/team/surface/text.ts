/** A team as text for a terminal. */
import { formatAge } from "../reports/format-facts.ts";
import type { MemberView, TaskView, TeamView, WholeMemberView } from "./schemas.ts";
import type { Style } from "../../terminal/print.ts";
import { count, firstLine, harmless, table } from "../../terminal/text.ts";

const MAX_TITLE_LENGTH = 80;
const MAX_REASON_LENGTH = 100;
/** Listed for each status of a member. The totals are in the member's line. */
const MAX_TITLES = 5;

/** One line per member. */
export function memberRows(members: readonly MemberView[], style: Style): string[] {
  return table(
    members.map((member) => [
      member.slug,
      livenessText(member),
      countsText(member),
      runnerText(member),
      firstLine(member.role, MAX_TITLE_LENGTH),
    ]),
  )
    .split("\n")
    .map((line, at) => style(STATE_STYLES[members[at]?.liveness.state ?? "idle"], line));
}

/** Red members need attention. */
const STATE_STYLES = {
  fresh: "green",
  down: "red",
  "never-started": "red",
  idle: "dim",
  inactive: "dim",
} as const;

/** All members with their tasks, and the number of problems in the files. */
export function describeTeam({ root, members, problems }: TeamView, style: Style): string {
  if (members.length === 0) return `${harmless(root)}: ${NO_MEMBERS_HINT}`;
  const rows = memberRows(members, style);
  return [
    `${style("bold", harmless(root))} · ${totals(members)}`,
    "",
    ...members.flatMap((member, at) => [
      rows[at] ?? "",
      ...noticeLines(member, style),
      ...taskLines(member, style),
    ]),
    ...(problems.length === 0
      ? []
      : [
          "",
          style("yellow", `${count(problems.length, "problem")} in the files: run \`cortex team lint\`.`),
        ]),
  ].join("\n");
}

/** One member in full. */
export function memberText(member: WholeMemberView, style: Style): string {
  const { name, role, project, session, lastTick, noteFile, projects, capabilities } = member;
  const about = table([
    ["name", firstLine(name, MAX_TITLE_LENGTH)],
    ["role", firstLine(role, MAX_TITLE_LENGTH) || "-"],
    ["project", project === null ? "-" : harmless(project)],
    ["projects", projects.length === 0 ? "-" : harmless(projects.join(", "))],
    ["can", capabilities.length === 0 ? "-" : harmless(capabilities.join(", "))],
    ["runs", runnerText(member)],
    ["state", livenessText(member)],
    ["last tick", lastTick ?? "never"],
    ["session", `${session.last ?? "-"}: ${firstLine(session.status ?? "-", MAX_REASON_LENGTH)}`],
    ["tasks", countsText(member)],
    ["note", noteFile],
  ]);
  const tasks = [...noticeLines(member, style), ...taskLines(member, style, Number.POSITIVE_INFINITY)];
  return tasks.length === 0 ? about : `${about}\n\n${tasks.join("\n")}`;
}

export const NO_MEMBERS_HINT = "The team has no members yet. Add one with `cortex team register <name>`.";

export function livenessText({ liveness: { state, ageMs, isAhead } }: MemberView): string {
  const word = state === "never-started" ? "never started" : state;
  if (ageMs === null) return word;
  return isAhead ? `${word}, its clock is ahead` : `${word}, ${formatAge(ageMs)}`;
}

function totals(members: readonly MemberView[]): string {
  const present = members.filter(({ status }) => status === "active");
  const fresh = present.filter(({ liveness }) => liveness.state === "fresh").length;
  const sum = (of: (counts: MemberView["counts"]) => number): number =>
    present.reduce((total, { counts }) => total + of(counts), 0);
  return [
    count(present.length, "member"),
    `${fresh} fresh`,
    `${sum(({ ready }) => ready)} ready`,
    `${sum(({ inProgress }) => inProgress)} in progress`,
    `${sum(({ done }) => done)} done`,
  ].join(" · ");
}

function countsText({ counts: { ready, inProgress, done, unknown } }: MemberView): string {
  const odd = unknown === 0 ? "" : `, ${unknown} invalid`;
  return `${ready} ready, ${inProgress} in progress, ${done} done${odd}`;
}

function runnerText({ isManaged, isCoordinator, runtime }: MemberView): string {
  const runner = isManaged ? "by cortex" : `by ${runtime === null ? "others" : firstLine(runtime, 20)}`;
  return isCoordinator ? `${runner}, coordinates` : runner;
}

function noticeLines({ notices }: MemberView, style: Style): string[] {
  return notices.map((notice) => style("yellow", `  ! ${harmless(notice)}`));
}

function taskLines({ tasks }: WholeMemberView, style: Style, max = MAX_TITLES): string[] {
  const of = (status: TaskView["status"]): TaskView[] => tasks.filter((task) => task.status === status);
  const list = (found: readonly TaskView[]): string[] => {
    const more = found.length - max;
    return [
      ...found.slice(0, max).map((task) => taskLine(task, style)),
      ...(more > 0 ? [`    and ${more} more`] : []),
    ];
  };
  return [...list(of("in-progress")), ...list(of("ready")), ...list(of(null))];
}

function taskLine({ title, status, statusText, started, forMs, flag }: TaskView, style: Style): string {
  const shown = firstLine(title, MAX_TITLE_LENGTH);
  if (flag !== null) {
    const reason = firstLine(flag.reason, MAX_REASON_LENGTH);
    return style("yellow", `  ! ${shown} (flagged ${flag.since}: ${reason})`);
  }
  if (status === "in-progress") {
    const age = forMs === null ? "" : `, ${formatAge(forMs)}`;
    return `  > ${shown}${started === null ? "" : ` (since ${harmless(started)}${age})`}`;
  }
  return status === "ready" ? `  - ${shown}` : `  ? ${shown} (${firstLine(statusText, 20)})`;
}
