/** `cortex top`: a live view of runs, queue, requests and costs. Read-only; works without a server. */
import type { Invocation } from "../feature/command.ts";
import { showLive } from "../terminal/live-view.ts";
import { type Overview, readOverview } from "./overview.ts";
import { describeCoolDown } from "./status-command.ts";
import type { Style } from "../terminal/print.ts";
import { count, duration, firstLine, harmless, moment, table, usd } from "../terminal/text.ts";

const LOOK_MS = 1_000;

export async function top({ home, print }: Invocation): Promise<void> {
  await showLive(print, {
    everyMs: LOOK_MS,
    async look() {
      const nowMs = Date.now();
      const view = topView(await readOverview(home, nowMs), nowMs);
      const text = (): string => print.advice(describeTop(view, print.style));
      return {
        value: view,
        key: withoutTime(view),
        page: () => `${text()}\n\n${print.style("dim", `${moment(view.at)} · press q to quit`)}`,
        text: () => `${moment(view.at)}\n${text()}\n`,
      };
    },
  });
}

type TopView = ReturnType<typeof topView>;

const MAX_CONTENT_LENGTH = 60;

/** The part of an overview that `top` shows. */
export function topView(overview: Overview, nowMs: number) {
  const { home, server, model, health, counts, runs, waiting, approvals, costs } = overview;
  const ageOf = (at: string): number => Math.max(0, nowMs - Date.parse(at));
  return {
    at: new Date(nowMs).toISOString(),
    home,
    server: server === null ? null : { url: server.url, pid: server.pid, forMs: ageOf(server.startedAt) },
    model: model === null ? null : (model.profile.model ?? model.profile.name),
    problems: health?.problems ?? [],
    coolDowns: health?.coolDowns ?? [],
    counts,
    runs: runs.map(
      ({ id, turnId, session, state, isCompacting, wait, attempt, startedAt, stillMs, isStuck }) => ({
        id,
        turnId,
        session,
        state: isCompacting ? "compacting" : state,
        wait,
        attempt,
        forMs: ageOf(startedAt),
        stillMs,
        isStuck,
      }),
    ),
    waiting: (waiting?.items ?? []).map(({ id, session, mode, content, queuedAt }) => ({
      id,
      session,
      mode,
      content,
      forMs: ageOf(queuedAt),
    })),
    approvals: approvals.map(({ id, session, tool }) => ({ id, session, tool })),
    costs,
  };
}

const GROWING: ReadonlySet<string> = new Set(["at", "forMs", "stillMs", "leftMs"]);

/** The view without ages: changes only when something happened. */
export function withoutTime(view: TopView): string {
  return JSON.stringify(view, (key, value: unknown) => (GROWING.has(key) ? undefined : value));
}

export function describeTop(view: TopView, style: Style): string {
  const { server, model, problems, counts, costs } = view;
  const head =
    server === null
      ? `${style("bold", "Cortex")} on ${view.home}: no server is running; start one with \`cortex up\``
      : `${style("bold", "Cortex")} at ${server.url}, up for ${duration(server.forMs)}, model ${model}`;
  if (counts === null || costs === null) return `${head}\nThe ledger is empty.`;
  const dead = counts.dead + counts.deliveries.dead;
  const numbers = [
    `${counts.running} running`,
    `${counts.suspended} suspended`,
    `${counts.queued} queued`,
    style(dead === 0 ? "dim" : "red", `${dead} dead`),
    `${usd(costs.dayUsd)} in 24 hours (${count(costs.dayTurns, "turn")})`,
    `${usd(costs.hourUsd)} in the last hour`,
  ].join(" · ");
  return [
    head,
    numbers,
    ...section("Runs", runRows(view, style), style),
    ...section("Queue", waitRows(view), style),
    ...section(
      "Requests",
      view.approvals.map(({ id, session, tool }) => [session, tool ?? "a question", id]),
      style,
    ),
    ...section(
      "Cooling down",
      view.coolDowns.map((cooling) => [describeCoolDown(cooling)]),
      style,
    ),
    ...section(
      "Problems",
      problems.map(({ problem }) => [harmless(problem)]),
      style,
    ),
  ].join("\n");
}

function section(title: string, rows: readonly (readonly string[])[], style: Style): string[] {
  return rows.length === 0 ? [] : ["", style("bold", title), table(rows)];
}

function runRows({ runs }: TopView, style: Style): string[][] {
  return runs.map(({ session, state, attempt, forMs, stillMs, isStuck, turnId }) => [
    session,
    attempt === 1 ? state : `${state}, attempt ${attempt}`,
    duration(forMs),
    turnId,
    isStuck ? style("red", `no progress for ${duration(stillMs ?? 0)}`) : "",
  ]);
}

function waitRows({ waiting }: TopView): string[][] {
  return waiting.map(({ session, mode, forMs, content }) => [
    session,
    mode,
    duration(forMs),
    firstLine(content ?? "", MAX_CONTENT_LENGTH),
  ]);
}
