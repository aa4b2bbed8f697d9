/** Commands that show a team. They read its files and need no server. */
import { watchTeam } from "../files/watch-team.ts";
import type { Invocation } from "../../feature/command.ts";
import { showLive } from "../../terminal/live-view.ts";
import { count, harmless, moment } from "../../terminal/text.ts";
import { openTeamDirectory, type TeamDirectory } from "../files/team-directory.ts";
import { memberOf } from "../members/dispatch-task.ts";
import { composeBriefing, composeReview } from "../reports/daily-reports.ts";
import { teamLocation } from "./flags.ts";
import type { TeamView } from "./schemas.ts";
import { memberText, describeTeam, memberRows, NO_MEMBERS_HINT } from "./text.ts";
import { memberView, teamView, wholeMemberView, withNulls } from "./views.ts";

/** Throws `team_missing` and `config_invalid`. */
export function openTeam(given: Invocation): Promise<TeamDirectory> {
  return openTeamDirectory(teamLocation(given), (line) => given.print.note(harmless(line)));
}

export async function listMembers(given: Invocation): Promise<void> {
  const { print } = given;
  const { members, problems } = await (await openTeam(given)).read();
  const items = members.map(memberView);
  print.data({ items, next: null }, () =>
    items.length === 0 ? print.advice(NO_MEMBERS_HINT) : memberRows(items, print.style).join("\n"),
  );
  if (problems.length > 0 && !print.json)
    print.note(`${count(problems.length, "problem")} in the files: run \`cortex team lint\`.`);
}

/** Of all members, or of one. */
export async function showTeam(given: Invocation): Promise<void> {
  const { args, print } = given;
  const team = await (await openTeam(given)).read();
  const [name] = args;
  if (name !== undefined) {
    const member = wholeMemberView(memberOf(name, team), team);
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

/** A member that stops ticking goes down without any file changing. */
const LOOK_MS = 15_000;

export async function watch(given: Invocation): Promise<void> {
  const { print } = given;
  const team = await openTeam(given);
  await showLive(print, {
    everyMs: LOOK_MS,
    watch: (onChange) => watchTeam(team, onChange),
    async look() {
      const view = teamView(await team.read(), print.json ? "all" : "active");
      const page = (): string => print.advice(describeTeam(view, print.style));
      return {
        value: view,
        key: viewWithoutTime(view),
        page: () => `${page()}\n\n${print.style("dim", `${moment(view.at)} · press q to quit`)}`,
        text: () => `${moment(view.at)}\n${page()}\n`,
      };
    },
  });
}

const GROWING: ReadonlySet<string> = new Set(["at", "ageMs", "forMs"]);

/** Changes only when something happens, not as time passes. */
export function viewWithoutTime(view: TeamView): string {
  return JSON.stringify(view, (key, value: unknown) => (GROWING.has(key) ? undefined : value));
}
