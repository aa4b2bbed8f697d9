/** What is taken in, and what hooks make of it, as it happens. */
import { setTimeout as wait } from "node:timers/promises";

import type { EventId } from "../model/ids.ts";
import { type HookRunView, hookRunView } from "../hooks/surface/views.ts";
import { dispatchView, type EventView, eventView } from "../feature/views.ts";
import type { Ledger } from "../store/store.ts";
import { firstLine, moment } from "../terminal/text.ts";

const MAX_CONTENT_LENGTH = 80;
const MAX_ERROR_LENGTH = 100;
/** How often the ledger is asked for more. Reading it needs no server, and survives one that is restarted. */
const POLL_MS = 250;

interface Told {
  /** Of the event that it is about. */
  readonly channel: string;
  readonly value: unknown;
  readonly line: string;
}

/** What comes after a change, oldest first, until the process ends. Why: also which hooks fire, and where events go. */
export async function* followEvents(
  ledger: Ledger,
  { from, why }: { readonly from: number; readonly why: boolean },
): AsyncGenerator<Told> {
  for (let seen = from; ;) {
    const { changes, seq } = await ledger.changes.since(seen);
    for (const change of changes.toSorted(byCause)) {
      const told = change.kind === "event" || why ? await tell(change, ledger) : undefined;
      if (told !== undefined) yield told;
    }
    if (seq === seen) await wait(POLL_MS);
    seen = seq;
  }
}

type Change = Awaited<ReturnType<Ledger["changes"]["since"]>>["changes"][number];

/** What is told in one entry of the feed happened at once; that a hook fired is why its message was sent. */
function byCause(a: Change, b: Change): number {
  return a.seq - b.seq || Number(b.kind === "hook_run") - Number(a.kind === "hook_run");
}

async function tell(change: Change, ledger: Ledger): Promise<Told | undefined> {
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

/** The hooks that fired or failed, and where the event went. */
export async function readMade(ledger: Ledger, event: EventId) {
  const [runs, dispatches] = await Promise.all([
    ledger.hooks.ofEvent(event),
    ledger.events.dispatches(event),
  ]);
  return {
    hooks: runs.map(hookRunView).filter(({ fired, error }) => fired || error !== null),
    dispatches: dispatches.map(dispatchView),
  };
}

export function madeLines({
  hooks = [],
  dispatches = [],
}: Partial<Awaited<ReturnType<typeof readMade>>>): string[] {
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
  return `hook ${hook} sent it to ${session}: ${outcome}`;
}

type DispatchFacts = { readonly hook: string; readonly session: string; readonly outcome: string };
