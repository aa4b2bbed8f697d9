/** The team as it is, and as it becomes. */
import { watchTeam } from "../files/watch-team.ts";
import { type TeamView, teamView } from "./views.ts";
import type { Invocation } from "../../feature/command.ts";
import { showLive } from "../../terminal/live-view.ts";
import { openTeam } from "./look-commands.ts";
import { describeTeam } from "./text.ts";
import { moment } from "../../terminal/text.ts";

/** Who does not tick goes down without any file that changes. */
const LOOK_MS = 15_000;

export async function watch(given: Invocation): Promise<void> {
  const { print } = given;
  const team = await openTeam(given);
  await showLive(print, {
    everyMs: LOOK_MS,
    watch: (onChange) => watchTeam(team, onChange),
    async look() {
      const view = teamView(await team.read(), print.json ? "all" : "active");
      const told = (): string => print.advice(describeTeam(view, print.style));
      return {
        value: view,
        key: viewWithoutTime(view),
        page: () => `${told()}\n\n${print.style("dim", `${moment(view.at)} · q ends it`)}`,
        text: () => `${moment(view.at)}\n${told()}\n`,
      };
    },
  });
}

const GROWING: ReadonlySet<string> = new Set(["at", "ageMs", "forMs"]);

/** The same as long as nothing has happened, however late it is. */
export function viewWithoutTime(view: TeamView): string {
  return JSON.stringify(view, (key, value: unknown) => (GROWING.has(key) ? undefined : value));
}
