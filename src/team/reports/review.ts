/** The evening's review: what got done today, what is in the way, what is planned for tomorrow. */
import { dateOf } from "../../model/day.ts";
import { factsOf, type MemberName, memberName, type TeamFacts } from "./facts.ts";
import {
  blockedLine,
  missingLine,
  progressLine,
  section,
  shown,
  totalsLine,
  upcomingLine,
} from "./format-facts.ts";
import { inOrderOfNames, type Team } from "../files/team.ts";

interface DoneToday {
  readonly member: MemberName;
  readonly title: string;
  readonly completed: string;
  readonly summary: string | undefined;
}

export interface ReviewFacts extends TeamFacts {
  /** The day it is about, by the clocks on the wall there. */
  readonly date: string;
  readonly doneToday: readonly DoneToday[];
}

export function reviewFacts(team: Team): ReviewFacts {
  const date = dateOf(team.atMs, team.timezone);
  return { ...factsOf(team), date, doneToday: doneOn(date, team) };
}

/** The facts of a review, and the same in Markdown. */
export function composeReview(team: Team): { readonly facts: ReviewFacts; readonly text: string } {
  const facts = reviewFacts(team);
  return { facts, text: formatReview(facts) };
}

export function formatReview(facts: ReviewFacts): string {
  const { doneToday } = facts;
  return [
    `# Review — ${facts.date}`,
    "",
    `${doneToday.length} done today · ${totalsLine(facts.totals)}`,
    ...section("Done today", doneToday.map(doneLine)),
    ...section("Blocked", facts.blocked.map(blockedLine)),
    ...section("Needs attention", facts.missing.map(missingLine)),
    ...section("Planned for tomorrow", [
      ...facts.inProgress.map(progressLine),
      ...facts.upcoming.map(upcomingLine),
      ...facts.nextActions.map(({ slug, action }) => `**${slug}** · ${action}`),
    ]),
    "",
  ].join("\n");
}

/** Stamps are by the clock on the wall, so they begin with the date of their day; also those of who has left since. */
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
