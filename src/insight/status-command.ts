import { accountName } from "../model/account-name.ts";
import type { Health } from "./health.ts";
import type { CoolingProfile } from "./measure.ts";
import type { Invocation } from "../feature/command.ts";
import { type Overview, readOverview } from "./overview.ts";
import { count, duration, harmless, moment, table, usd } from "../terminal/text.ts";

export async function showStatus({ home, print }: Invocation): Promise<void> {
  const overview = await readOverview(home, Date.now());
  print.data(overview, () =>
    print.advice(table([["home", home], ...describeServer(overview), ...describeLedger(overview)])),
  );
}

function describeServer({ server, model, health }: Overview): string[][] {
  if (server === null) return [["server", "not running; start it with `cortex up`"]];
  return [
    ["server", `${server.url}, process ${server.pid}, up since ${moment(server.startedAt)}`],
    ["model", `${model.profile.model ?? model.profile.name}, because ${model.why}`],
    ...health.coolDowns.map((cooling) => ["cooling down", describeCoolDown(cooling)]),
    ...health.channels
      .filter(({ downMs }) => downMs !== null)
      .map((channel) => ["not connected", describeChannel(channel)]),
    ["health", health.status],
    ...health.problems.flatMap(({ problem, hint }) => [
      ["", harmless(`${problem}.`)],
      ["", `  ${harmless(hint)}`],
    ]),
  ];
}

function describeChannel({ name, account, state, downMs }: Health["channels"][number]): string {
  return `${accountName(name, account)}: ${state}, for ${duration(downMs ?? 0)}`;
}

export function describeCoolDown(cooling: CoolingProfile): string {
  const { profile, failures, leftMs, error } = cooling;
  const after = failures === 1 ? "" : ` after ${failures} failures in a row`;
  return harmless(`profile ${profile}, for another ${duration(leftMs)}${after}: ${error}`);
}

function describeLedger({ counts, runs, waiting, approvals, costs }: Overview): string[][] {
  if (counts === null) return [["ledger", "none yet"]];
  const { events, turns, sessions, running, suspended, queued, deliveries } = counts;
  const dead = counts.dead + deliveries.dead;
  return [
    ["ledger", `${count(events, "event")}, ${count(turns, "turn")}, ${count(sessions, "session")}`],
    ["work", `${running} running, ${suspended} suspended, ${queued} queued, ${dead} dead`],
    ...runs.map(({ session, state, isCompacting, startedAt, stillMs, isStuck }) => [
      "",
      `${session}: ${isCompacting ? "compacting" : state} since ${moment(startedAt)}${isStuck ? `, no progress for ${duration(stillMs)}` : ""}`,
    ]),
    ...(waiting.oldestMs === null
      ? []
      : [["waiting", `${count(waiting.sessions, "session")}, the oldest for ${duration(waiting.oldestMs)}`]]),
    ...(approvals.length === 0
      ? []
      : [["requests", `${count(approvals.length, "request")} pending: run \`cortex approvals\``]]),
    ...(costs.dayTurns === 0
      ? []
      : [
          [
            "cost",
            `${usd(costs.dayUsd)} in 24 hours, ${count(costs.dayTurns, "turn")}, ${count(costs.dayCalls, "model call")}, ${count(costs.dayTokens, "token")}`,
          ],
        ]),
  ];
}
