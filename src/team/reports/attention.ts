/** What people have to be told of: who does not work that should, and what is in the way. Once for each change. */
import { type Blocked, blockedTasks, missingMembers } from "./facts.ts";
import { blockedLine, missingLine, section } from "./format-facts.ts";
import { findMember, type Team } from "../files/team.ts";

export interface Concern {
  /** The same as long as nothing has changed about it. */
  readonly key: string;
  readonly heading: "Needs attention" | "Blocked";
  readonly line: string;
  /** The task that somebody has flagged, where it is that. */
  readonly flag?: Blocked | undefined;
}

export interface Looked {
  /** Members that are looked at: whatever their ticks say, they take up what there is to do at their next heartbeat. */
  readonly isLookedAfter: (slug: string) => boolean;
  /** What kept members from working, by slug. */
  readonly failures: ReadonlyMap<string, string>;
}

export function concernsOf(team: Team, { isLookedAfter, failures }: Looked): Concern[] {
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
