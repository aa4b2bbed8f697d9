/** A team as its files say it is. Looking at it needs no server. */
import type { Invocation } from "../../feature/command.ts";
import { count, harmless } from "../../terminal/text.ts";
import { openTeamDirectory, type TeamDirectory } from "../files/team-directory.ts";
import { memberOf } from "../members/dispatch-task.ts";
import { composeBriefing } from "../reports/briefing.ts";
import { composeReview } from "../reports/review.ts";
import { teamLocation } from "./flags.ts";
import { memberText, describeTeam, memberRows, NOBODY } from "./text.ts";
import { memberView, teamView, wholeMemberView } from "./views.ts";
import { withNulls } from "./with-nulls.ts";

/** Throws `team_missing` and `config_invalid`. */
export function openTeam(given: Invocation): Promise<TeamDirectory> {
  return openTeamDirectory(teamLocation(given), (line) => given.print.note(harmless(line)));
}

export async function list(given: Invocation): Promise<void> {
  const { print } = given;
  const { members, problems } = await (await openTeam(given)).read();
  const items = members.map(memberView);
  print.data({ items, next: null }, () =>
    items.length === 0 ? print.advice(`Here, ${NOBODY}`) : memberRows(items, print.style).join("\n"),
  );
  if (problems.length > 0 && !print.json)
    print.note(`${count(problems.length, "problem")} in the files: \`cortex team lint\` tells.`);
}

/** Of everybody, or of one. */
export async function status(given: Invocation): Promise<void> {
  const { args, print } = given;
  const team = await (await openTeam(given)).read();
  const [wanted] = args;
  if (wanted !== undefined) {
    const member = wholeMemberView(memberOf(wanted, team), team);
    return print.data(member, () => memberText(member, print.style));
  }
  const view = teamView(team);
  print.data(view, () => print.advice(describeTeam(view, print.style)));
}

export async function briefing(given: Invocation): Promise<void> {
  showReport(composeBriefing(await (await openTeam(given)).read()), given);
}

export async function review(given: Invocation): Promise<void> {
  showReport(composeReview(await (await openTeam(given)).read()), given);
}

function showReport({ facts, text }: { facts: unknown; text: string }, { print }: Invocation): void {
  print.data({ text, facts: withNulls(facts) }, () => harmless(text.trimEnd()));
}
