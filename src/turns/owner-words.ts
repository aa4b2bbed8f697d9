/**
 * The owner's own words in a conversation. They have no label, because what the owner tells an agent is for it to use:
 * for the owner, and not for other people who talk in the same conversation. So they count as the owner's private data
 * from the first turn on that other people have a part in.
 */
import { audienceOf, isOutside } from "../model/audience.ts";
import { isByAgent } from "../model/event.ts";
import { isOwner, OWNER_PRINCIPAL } from "../model/principal.ts";
import { OWNERS, readTrust } from "../model/trust.ts";
import type { Claim, QueueItem, StoredSession, Store } from "../store/store.ts";
import { audienceOfTurn } from "./audience.ts";
import { isByPeople, type LabelSource } from "./setup.ts";

/** How many turns are read at once. */
const PAGE = 64;

/** The label of what the owner has said in a thread that a turn with other people follows. */
export async function labelOfOwnersWords(
  { parent, turn }: Pick<Claim, "parent" | "turn">,
  { items, session }: { readonly items: readonly QueueItem[]; readonly session: StoredSession },
  store: Pick<Store, "turns" | "events">,
): Promise<LabelSource[]> {
  if (!isOutside(audienceOfTurn(items)) && !isByPeople(items)) return [];
  if (readTrust(session.settings).private.includes(OWNER_PRINCIPAL)) return [];
  let next = parent;
  while (next !== undefined) {
    const turns = await store.turns.thread(next, { limit: PAGE });
    for (const { sourceEvent } of turns) {
      const event = sourceEvent === undefined ? undefined : await store.events.get(sourceEvent);
      if (event === undefined) continue;
      // The turn before this one with other people has labelled what was said until then.
      if (isOutside(audienceOf(event))) return [];
      if (isOwner(event.principal) && !isByAgent(event))
        return [{ label: OWNERS, origin: { turn, events: [event.id] } }];
    }
    next = turns.at(-1)?.parent;
  }
  return [];
}
