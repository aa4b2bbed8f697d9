/** Follows events and their outcomes as they happen. */
import { setTimeout as wait } from "node:timers/promises";

import type { EventId } from "../model/ids.ts";
import { type HookRunView, hookRunView } from "../hooks/surface/views.ts";
import { dispatchView, type EventView, eventView } from "../feature/views.ts";
import type { Ledger } from "../store/store.ts";
import { firstLine, moment } from "../terminal/text.ts";

const MAX_CONTENT_LENGTH = 80;
const MAX_ERROR_LENGTH = 100;
/** Polls the ledger: this needs no server and survives its restart. */
const POLL_MS = 250;

interface FollowedChange {
  /** The channel of the event. */
  readonly channel: string;
  readonly value: unknown;
  readonly line: string;
}

/** Yields the changes after `from`, oldest first, forever. With `why`, also hook runs and dispatches. */
export async function* followEvents(
  ledger: Ledger,
  { from, why }: { readonly from: number; readonly why: boolean },
): AsyncGenerator<FollowedChange> {
  for (let seen = from; ;) {
    const { changes, seq } = await ledger.changes.since(seen);
    for (const change of changes.toSorted(byCause)) {
      const followed = change.kind === "event" || why ? await describeChange(change, ledger) : undefined;
      if (followed !== undefined) yield followed;
    }
    if (seq === seen) await wait(POLL_MS);
    seen = seq;
  }
}

type Change = Awaited<ReturnType<Ledger["changes"]["since"]>>["changes"][number];

/** Changes of one entry are simultaneous; a hook run is shown before the dispatch that it caused. */
function byCause(a: Change, b: Change): number {
  return a.seq - b.seq || Number(b.kind === "hook_run") - Number(a.kind === "hook_run");
}

async function describeChange(change: Change, ledger: Ledger): Promise<FollowedChange | undefined> {
  if (change.kind !== "event" && change.kind !== "hook_run" && change.kind !== "dispatch") return undefined;
  const event = await ledger.events.get(change.event);
  if (event === undefined) return undefined;
  const { id, channel } = event;
  switch (change.kind) {
    case "event": {
      const value = eventView(event);
      return { channel, value, line: eventLine(value) };
    }
    case "hook_run": {
      const runs = await ledger.hooks.ofEvent(id);
      const run = runs.find(({ hook }) => hook === change.hook);
      if (run === undefined) return undefined;
      const value = hookRunView(run);
      return { channel, value, line: `  ${id}: ${describeRun(value)}` };
    }
    case "dispatch": {
      const { hook, session, outcome, item: itemId } = change;
      const value = { eventId: id, hook, session, outcome, itemId };
      return { channel, value, line: `  ${id}: ${describeDispatch(value)}` };
    }
  }
}

export type EventOutcome = Awaited<ReturnType<typeof readEventOutcome>>;

/** The hooks that fired or failed, and the sessions that the event was dispatched to. */
export async function readEventOutcome(ledger: Ledger, event: EventId) {
  const [runs, dispatches] = await Promise.all([
    ledger.hooks.ofEvent(event),
    ledger.events.dispatches(event),
  ]);
  return {
    hooks: runs.map(hookRunView).filter(({ fired, error }) => fired || error !== null),
    dispatches: dispatches.map(dispatchView),
  };
}

export function outcomeLines({ hooks = [], dispatches = [] }: Partial<EventOutcome>): string[] {
  return [...hooks.map(describeRun), ...dispatches.map(describeDispatch)];
}

export function eventLine(event: EventView): string {
  return eventCells(event).join("  ");
}

export function eventCells(event: EventView): string[] {
  const { id, timestamp, direction, channel, sender, content, prunedAt } = event;
  const said = prunedAt === null ? firstLine(content ?? "", MAX_CONTENT_LENGTH) : "(pruned)";
  return [moment(timestamp), direction, channel, sender ?? "", id, said];
}

function describeRun({ hook, error }: HookRunView): string {
  return error === null ? `hook ${hook} fired` : `hook ${hook} failed: ${firstLine(error, MAX_ERROR_LENGTH)}`;
}

function describeDispatch({ hook, session, outcome }: DispatchFacts): string {
  return `hook ${hook} dispatched it to ${session}: ${outcome}`;
}

type DispatchFacts = { readonly hook: string; readonly session: string; readonly outcome: string };
