/** The morning's briefing: who is at work, what they do, what is in the way, what is coming. */
import { count } from "../../model/count.ts";
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
import { toStamp } from "../markdown/stamp.ts";
import type { Team } from "../files/team.ts";

export interface BriefingFacts extends TeamFacts {
  readonly stamp: string;
  /** With a fresh tick. */
  readonly fresh: readonly MemberName[];
  readonly notices: readonly { readonly member: MemberName; readonly text: string }[];
  /** What `cortex team lint` would tell of. */
  readonly problems: number;
}

export function briefingFacts(team: Team): BriefingFacts {
  return {
    stamp: toStamp(team.atMs, team.timezone),
    ...factsOf(team),
    fresh: team.members.filter(({ liveness }) => liveness.state === "fresh").map(memberName),
    notices: team.members.flatMap((member) =>
      member.notices.map((text) => ({ member: memberName(member), text })),
    ),
    problems: team.problems.length,
  };
}

/** The facts of a briefing, and the same in Markdown. */
export function composeBriefing(team: Team): { readonly facts: BriefingFacts; readonly text: string } {
  const facts = briefingFacts(team);
  return { facts, text: formatBriefing(facts) };
}

export function formatBriefing(facts: BriefingFacts): string {
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
    ...section("In progress", facts.inProgress.map(progressLine)),
    ...section("Coming up", facts.upcoming.map(upcomingLine)),
    ...section(
      "Projects",
      facts.nextActions.map(({ slug, action }) => `**${slug}** · ${action}`),
    ),
    ...(problems === 0 ? [] : ["", `${count(problems, "problem")} in the files: \`cortex team lint\``]),
    "",
  ].join("\n");
}
