import type { ItemId } from "../../model/ids.ts";
import { SILENCE } from "../../model/reply-tool.ts";
import type { DeliveryTarget, NewDispatch, Store } from "../../store/store.ts";
import type { Notice } from "./order-notice.ts";
import { readTurnEnd } from "./work-end.ts";
import type { WorkParts } from "./workplace.ts";

export interface AskParts extends Pick<WorkParts, "withSlot" | "settled"> {
  readonly store: Store;
  readonly log: (line: string) => void;
  /** Where the owner reads what it answers. Undefined: in the log. */
  readonly reportsTo: DeliveryTarget | undefined;
  readonly signal: AbortSignal;
}

/** Tells whoever coordinates of flags. Each is sent once. */
export async function askCoordinator(notices: readonly Notice[], parts: AskParts): Promise<void> {
  const sent: ItemId[] = [];
  for (const notice of notices) sent.push(...(await send(notice, parts)));
  const { reportsTo, signal, log } = parts;
  if (sent.length === 0 || reportsTo !== undefined) return;
  logAnswers(sent, parts).catch((error: unknown) => {
    if (!signal.aborted) log(`What the coordinator says is only in its session: ${String(error)}`);
  });
}

/** What the member has come into contact with, the coordinator has from then on. */
async function send({ event, dispatch, from }: Notice, parts: AskParts): Promise<ItemId[]> {
  const { store, withSlot, reportsTo } = parts;
  const isKnown = (await store.sessions.get(from)) !== undefined;
  const given: NewDispatch = {
    ...dispatch,
    ...(reportsTo === undefined ? {} : { delivery: { ...reportsTo } }),
    ...(isKnown ? { from } : {}),
  };
  const { fresh, dispatched } = await withSlot(async (claim) => {
    const result = await store.events.accept(event, {
      dispatch: given,
      ...(claim === undefined ? {} : { claim }),
    });
    return { result, claim: result.dispatched?.claim };
  });
  return fresh ? [dispatched!.item] : [];
}

/** Several may have been one turn. */
async function logAnswers(
  items: readonly ItemId[],
  { store, settled, signal, log }: AskParts,
): Promise<void> {
  const ends = items.map(async (item) => {
    await settled(item, signal);
    return readTurnEnd(item, store);
  });
  const said = (await Promise.all(ends)).flatMap((end) => (end?.kind === "done" ? [end.summary.trim()] : []));
  for (const answer of new Set(said)) if (answer !== SILENCE && answer !== "") log(answer);
}
