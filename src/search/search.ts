import type { EventId } from "../model/ids.ts";
import type { Ledger, SearchHit, SearchOptions } from "../store/store.ts";

interface LedgerSearchOptions extends SearchOptions {
  /** Leaves out what is worse than this. From ALL_FOUND on, only texts are left that hold everything. */
  readonly minScore?: number;
}

/** Something that was said, under the id by which it is cited. */
interface LedgerHit {
  /** An answer is cited as its turn, all else as its event. */
  readonly id: string;
  readonly kind: "event" | "turn";
  readonly event: EventId;
  readonly atMs: number;
  readonly channel: string;
  readonly sender: string | undefined;
  readonly text: string;
  /** From 0 to 1, larger is better. */
  readonly score: number;
}

/** What was said about a text, best first: for memory, and for whoever cites it. */
export async function searchLedger(
  ledger: { readonly events: Pick<Ledger["events"], "search"> },
  text: string,
  { minScore = 0, ...options }: LedgerSearchOptions = {},
): Promise<LedgerHit[]> {
  const hits = await ledger.events.search(text, options);
  return hits.filter(({ score }) => score >= minScore).map(toLedgerHit);
}

function toLedgerHit({ event, turn, atMs, channel, sender, text, score }: SearchHit): LedgerHit {
  const cited =
    turn === undefined ? ({ id: event, kind: "event" } as const) : ({ id: turn, kind: "turn" } as const);
  return { ...cited, event, atMs, channel, sender, text, score };
}
