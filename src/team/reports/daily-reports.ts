/** The morning briefing (who is at work, on what, what is blocked or coming up) and the evening review (what got done). */
import { count } from "../../model/count.ts";
import { dateOf } from "../../model/day.ts";
import { inOrderOfNames, type Team } from "../files/team.ts";
import { toStamp } from "../markdown/stamp.ts";
import { factsOf, type MemberName, memberName, type TeamFacts } from "./facts.ts";
import {
  blockedLine,
  inProgressLine,
  missingLine,
  section,
  shown,
  totalsLine,
  upcomingLine,
} from "./format-facts.ts";

/** The facts of a report, and the same in Markdown. */
interface Report<Facts> {
  readonly facts: Facts;
  readonly text: string;
}

interface BriefingFacts extends TeamFacts {
  readonly stamp: string;
  /** Members with a fresh tick. */
  readonly fresh: readonly MemberName[];
  readonly notices: readonly { readonly member: MemberName; readonly text: string }[];
  /** How many problems `cortex team lint` would report. */
  readonly problems: number;
}

export function composeBriefing(team: Team): Report<BriefingFacts> {
  const facts = {
    stamp: toStamp(team.atMs, team.timezone),
    ...factsOf(team),
    fresh: team.members.filter(({ liveness }) => liveness.state === "fresh").map(memberName),
    notices: team.members.flatMap((member) =>
      member.notices.map((text) => ({ member: memberName(member), text })),
    ),
    problems: team.problems.length,
  };
  return { facts, text: formatBriefing(facts) };
}

function formatBriefing(facts: BriefingFacts): string {
  const { problems } = facts;
  return [
    `# Briefing — ${facts.stamp.replace("T", " ")}`,
    "",
    totalsLine(facts.totals),
    ...section("Needs attention", [
      ...facts.missing.map(missingLine),
      ...facts.notices.map(({ member, text }) => `${shown(member)}: ${text}`),
    ]),
    ...section("Blocked", facts.blocked.map(blockedLine)),
    ...section("Fresh", facts.fresh.map(shown)),
    ...section("In progress", facts.inProgress.map(inProgressLine)),
    ...section("Coming up", facts.upcoming.map(upcomingLine)),
    ...section("Projects", facts.nextActions.map(nextActionLine)),
    ...(problems === 0 ? [] : ["", `${count(problems, "problem")} in the files: \`cortex team lint\``]),
    "",
  ].join("\n");
}

interface DoneToday {
  readonly member: MemberName;
  readonly title: string;
  readonly completed: string;
  readonly summary: string | undefined;
}

interface ReviewFacts extends TeamFacts {
  /** The local date under review. */
  readonly date: string;
  readonly doneToday: readonly DoneToday[];
}

export function composeReview(team: Team): Report<ReviewFacts> {
  const date = dateOf(team.atMs, team.timezone);
  const facts = { ...factsOf(team), date, doneToday: doneOn(date, team) };
  return { facts, text: formatReview(facts) };
}

function formatReview(facts: ReviewFacts): string {
  const { doneToday } = facts;
  return [
    `# Review — ${facts.date}`,
    "",
    `${doneToday.length} done today · ${totalsLine(facts.totals)}`,
    ...section("Done today", doneToday.map(doneLine)),
    ...section("Blocked", facts.blocked.map(blockedLine)),
    ...section("Needs attention", facts.missing.map(missingLine)),
    ...section("Planned for tomorrow", [
      ...facts.inProgress.map(inProgressLine),
      ...facts.upcoming.map(upcomingLine),
      ...facts.nextActions.map(nextActionLine),
    ]),
    "",
  ].join("\n");
}

/** Stamps are local and start with their date. Includes members who have left since. */
function doneOn(date: string, { members }: Team): DoneToday[] {
  return members
    .flatMap((member) =>
      member.tasks.tasks.flatMap(({ status, title, completed, summary }) =>
        status === "done" && completed?.startsWith(`${date}T`) === true
          ? [{ member: memberName(member), title, completed, summary }]
          : [],
      ),
    )
    .toSorted((a, b) => inOrderOfNames(a.completed, b.completed));
}

function doneLine({ member, title, summary }: DoneToday): string {
  const [first] = (summary ?? "").split("\n", 1);
  return `${shown(member)} · ${title}${first === undefined || first === "" ? "" : `: ${first.trim()}`}`;
}

function nextActionLine({ slug, action }: TeamFacts["nextActions"][number]): string {
  return `**${slug}** · ${action}`;
}
