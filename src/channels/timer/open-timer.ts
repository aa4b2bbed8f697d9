import type { Ports } from "../../feature/ports.ts";
import { TIMER_ADAPTER } from "../../model/event.ts";
import type { Store } from "../../store/store.ts";
import { Timer } from "./timer.ts";

type TimerPorts = Pick<Ports, "clock" | "isJudged" | "accept" | "log"> & {
  readonly store: Pick<Store, "events">;
};

/** The timer of a running Cortex. It knows from the ledger which minutes had their event. */
export function openTimer({ clock, store, isJudged, accept, log }: TimerPorts): Timer {
  return new Timer({
    clock,
    isWanted: () => isJudged("received", TIMER_ADAPTER),
    lastBefore: (minuteMs) => lastMinute(store.events, minuteMs),
    accept,
    onProblem: (error) => log(`The timer waits because its event could not be stored: ${String(error)}`),
  });
}

async function lastMinute(events: Store["events"], minuteMs: number): Promise<number | undefined> {
  const last = await events.lastOf(TIMER_ADAPTER);
  if (last === undefined || last.atMs < minuteMs) return last?.atMs;
  // The clock was ahead before, or Cortex restarted within the minute. Answers are on the channel too.
  const { items } = await events.list({
    channel: TIMER_ADAPTER,
    direction: "received",
    untilMs: minuteMs,
    limit: 1,
  });
  return items[0]?.atMs;
}
