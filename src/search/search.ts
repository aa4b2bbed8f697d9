import type { EventId } from "../model/ids.ts";
import type { Label } from "../model/trust.ts";
import type { Ledger, SearchHit, SearchOptions } from "../store/store.ts";

interface LedgerSearchOptions extends SearchOptions {
  /** Drops worse hits. From ALL_FOUND on, only texts with all words are left. */
  readonly minScore?: number;
}

/** A text under the id by which it is cited. */
interface LedgerHit {
  /** An answer is cited as its turn, everything else as its event. */
  readonly id: string;
  readonly kind: "event" | "turn";
  readonly event: EventId;
  readonly atMs: number;
  readonly channel: string;
  readonly sender: string | undefined;
  readonly text: string;
  readonly label: Label;
  /** From 0 to 1, larger is better. */
  readonly score: number;
}

/** Texts of the ledger that match, best first, ready to be cited. */
export async function searchLedger(
  ledger: { readonly events: Pick<Ledger["events"], "search"> },
  text: string,
  { minScore = 0, ...options }: LedgerSearchOptions = {},
): Promise<LedgerHit[]> {
  const hits = await ledger.events.search(text, options);
  return hits.filter(({ score }) => score >= minScore).map(toLedgerHit);
}

function toLedgerHit({ event, turn, atMs, channel, sender, text, label, score }: SearchHit): LedgerHit {
  const cited =
    turn === undefined ? ({ id: event, kind: "event" } as const) : ({ id: turn, kind: "turn" } as const);
  return { ...cited, event, atMs, channel, sender, text, label, score };
}
