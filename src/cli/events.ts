import { setTimeout as wait } from "node:timers/promises";

import { type EventView, eventView } from "../runtime/views.ts";
import { pageOf } from "../server/page.ts";
import { type Invocation, text } from "./command.ts";
import { type Ledger, limitOf, openLedger } from "./ledger.ts";
import { firstLine, moment, table } from "./text.ts";

const MAX_CONTENT_LENGTH = 80;
/** How often the ledger is asked for more. Reading it needs no server, and survives one that is restarted. */
const POLL_MS = 250;

export async function events(given: Invocation): Promise<void> {
  const { home, options, print } = given;
  const limit = limitOf(given);
  const channel = text(given, "channel");
  await using ledger = await openLedger(home);
  const seen = await ledger.changes.last();
  const page = pageOf(
    await ledger.events.list({ limit, ...(channel === undefined ? {} : { channel }) }),
    eventView,
  );
  if (options["follow"] !== true) {
    print.data(page, () => (page.items.length === 0 ? "No events." : table(page.items.map(cells))));
    return;
  }
  for (const event of page.items.toReversed()) print.data(event, () => cells(event).join("  "));
  for await (const event of follow(ledger, seen)) {
    if (channel === undefined || event.channel === channel) print.data(event, () => cells(event).join("  "));
  }
}

/** What comes from now on, oldest first, until the process ends. */
async function* follow(ledger: Ledger, from: number): AsyncGenerator<EventView> {
  for (let seen = from; ;) {
    const { changes, seq } = await ledger.changes.since(seen);
    for (const change of changes) {
      const event = change.kind === "event" ? await ledger.events.get(change.event) : undefined;
      if (event !== undefined) yield eventView(event);
    }
    if (seq === seen) await wait(POLL_MS);
    seen = seq;
  }
}

function cells({ id, timestamp, direction, channel, sender, content }: EventView): string[] {
  return [
    moment(timestamp),
    direction,
    channel,
    sender ?? "",
    id,
    firstLine(content ?? "", MAX_CONTENT_LENGTH),
  ];
}
