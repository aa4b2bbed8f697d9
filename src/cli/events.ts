import { type EventView, eventView } from "../feature/views.ts";
import { pageOf } from "../feature/page.ts";
import { type Invocation, text } from "../feature/command.ts";
import {
  eventCells,
  eventLine,
  followEvents,
  type EventOutcome,
  outcomeLines,
  readEventOutcome,
} from "./follow-events.ts";
import { limitOf, openLedger } from "../client/ledger.ts";
import type { Ledger } from "../store/store.ts";
import { table } from "../terminal/text.ts";

export async function listEvents(given: Invocation): Promise<void> {
  const { home, options, print } = given;
  const limit = limitOf(given);
  const channel = text(given, "channel");
  const why = options["why"] === true;
  await using ledger = await openLedger(home);
  const seen = await ledger.changes.last();
  const page = pageOf(
    await ledger.events.list({ limit, ...(channel === undefined ? {} : { channel }) }),
    eventView,
  );
  const items = why ? await Promise.all(page.items.map((event) => explain(event, ledger))) : page.items;
  if (options["follow"] !== true) {
    print.data({ ...page, items }, () => (items.length === 0 ? "No events." : describe(items)));
    return;
  }
  for (const event of items.toReversed()) print.data(event, () => describe([event]));
  for await (const followed of followEvents(ledger, { from: seen, why })) {
    if (channel === undefined || followed.channel === channel)
      print.data(followed.value, () => followed.line);
  }
}

type ExplainedEvent = EventView & Partial<EventOutcome>;

async function explain(event: EventView, ledger: Ledger): Promise<ExplainedEvent> {
  return { ...event, ...(await readEventOutcome(ledger, event.id)) };
}

/** A table; with hooks and dispatches, these are listed below each event instead. */
function describe(events: readonly ExplainedEvent[]): string {
  if (events.every(({ hooks }) => hooks === undefined)) return table(events.map(eventCells));
  return events
    .flatMap((event) => [eventLine(event), ...outcomeLines(event).map((line) => `  ${line}`)])
    .join("\n");
}
