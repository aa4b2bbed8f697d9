/** Concerns to report to people: members that should work but do not, and blockers. Each is reported once per change. */
import { type Blocked, blockedTasks, missingMembers } from "./facts.ts";
import { blockedLine, missingLine, section } from "./format-facts.ts";
import { findMember, type Team } from "../files/team.ts";

export interface Concern {
  /** Changes only when the concern does. */
  readonly key: string;
  readonly heading: "Needs attention" | "Blocked";
  readonly line: string;
  /** The flagged task, if the concern is a flag. */
  readonly flag?: Blocked | undefined;
}

export interface Care {
  /** Whether Cortex runs the member: whatever its tick says, it takes up its tasks at the next heartbeat. */
  readonly isLookedAfter: (slug: string) => boolean;
  /** Errors that keep members from working, by slug. */
  readonly failures: ReadonlyMap<string, string>;
}

export function concernsOf(team: Team, { isLookedAfter, failures }: Care): Concern[] {
  const missing = missingMembers(team)
    .filter(({ member }) => !isLookedAfter(member.slug))
    .map((each): Concern => {
      const tick = findMember(team, each.member.slug)?.tasks.tick?.stamp ?? "";
      const key = `${each.state}:${each.member.slug}:${tick}`;
      return { key, heading: "Needs attention", line: missingLine(each) };
    });
  const failed = Array.from(failures, ([slug, why]): Concern => {
    const name = findMember(team, slug)?.note.name || slug;
    return {
      key: `failed:${slug}:${why}`,
      heading: "Needs attention",
      line: `**${name}** cannot work: ${why}`,
    };
  });
  const blocked = blockedTasks(team).map((each): Concern => {
    const key = `blocked:${each.member.slug}:${each.title ?? ""}:${each.since ?? ""}:${each.reason}`;
    const flag = each.title === undefined ? undefined : each;
    return { key, heading: "Blocked", line: blockedLine(each), flag };
  });
  return [...missing, ...failed, ...blocked];
}

export function formatConcerns(concerns: readonly Concern[]): string {
  const lines = (heading: Concern["heading"]): string[] =>
    section(
      heading,
      concerns.filter((concern) => concern.heading === heading).map(({ line }) => line),
    );
  return ["# Team", ...lines("Needs attention"), ...lines("Blocked"), ""].join("\n");
}
