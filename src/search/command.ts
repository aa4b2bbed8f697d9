import { CortexError } from "../model/errors.ts";
import { present } from "../model/present.ts";
import { foundView, type HitView } from "../feature/views.ts";
import { type Invocation, text } from "../feature/command.ts";
import { limitOf, openLedger } from "../client/ledger.ts";
import { momentOf } from "../feature/moment.ts";
import { count, firstLine, moment, table } from "../terminal/text.ts";

const MAX_TEXT_LENGTH = 120;
const MAX_HITS = 100;

/** Reads the ledger itself, so that it needs no server and disturbs none. */
export async function searchLedger(given: Invocation): Promise<void> {
  const { home, args, print } = given;
  const limit = limitOf(given);
  if (limit > MAX_HITS) throw tooMany(limit);
  const nowMs = Date.now();
  const channel = text(given, "channel");
  const options = present({
    limit,
    channels: channel === undefined ? undefined : [channel],
    sinceMs: momentOf(given, "since", nowMs),
    untilMs: momentOf(given, "until", nowMs),
  });
  await using ledger = await openLedger(home);
  const hits = await ledger.events.search(args[0]!, options);
  const found = foundView(hits, await ledger.events.unsearched());
  print.data(found, () => (hits.length === 0 ? "No matches." : table(found.items.map(cells))));
  if (found.unsearched > 0) print.note(behind(found.unsearched));
}

function behind(unsearched: number): string {
  const left = `${count(unsearched, "older event")} not searched`;
  return `The search index is behind: ${left}. A running server catches up automatically; start one with \`cortex up\`.`;
}

function cells({ timestamp, channel, sender, turnId, eventId, text: said }: HitView): string[] {
  const line = firstLine(said.replaceAll(/\s+/g, " "), MAX_TEXT_LENGTH);
  return [moment(timestamp), channel, sender ?? "", turnId ?? eventId, line];
}

function tooMany(limit: number): CortexError {
  return new CortexError("usage", `The limit ${limit} is too high`, {
    hint: `Use ${MAX_HITS} or fewer, or narrow the search with --channel, --since and --until.`,
  });
}
