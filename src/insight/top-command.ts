/** What runs, what waits, what does not move and what it costs, live. Reads only: it needs no server. */
import type { Invocation } from "../feature/command.ts";
import { showLive } from "../terminal/live-view.ts";
import { readOverview } from "./overview.ts";
import { moment } from "../terminal/text.ts";
import { describeTop, topView, withoutTime } from "./top-text.ts";

const LOOK_MS = 1_000;

export async function top({ home, print }: Invocation): Promise<void> {
  await showLive(print, {
    everyMs: LOOK_MS,
    async look() {
      const nowMs = Date.now();
      const view = topView(await readOverview(home, nowMs), nowMs);
      const told = (): string => print.advice(describeTop(view, print.style));
      return {
        value: view,
        key: withoutTime(view),
        page: () => `${told()}\n\n${print.style("dim", `${moment(view.at)} · q ends it`)}`,
        text: () => `${moment(view.at)}\n${told()}\n`,
      };
    },
  });
}
