import { CortexError } from "../model/errors.ts";
import type { Message, UserBody } from "../model/message.ts";
import { MAX_PAGE, type QueueItem, type Store } from "../store/store.ts";
import { droppedNote } from "./dropped-note.ts";
import type { TurnJournal } from "./journal.ts";
import { memoryOf, withMemory } from "./memory.ts";
import type { Work } from "./prepare.ts";
import { toQuery } from "./query.ts";
import type { TurnPorts } from "./turn-ports.ts";
import { isByOthers, markSession } from "./untrusted.ts";

type JoinPorts = Pick<TurnPorts, "store" | "settings" | "clock" | "gatherTurn">;

/** How often what waits is read anew because somebody has dropped one of the messages meanwhile. */
const MAX_READS = 10;

/**
 * Takes the messages that belong to a turn into it before it begins, and tells it of those that were dropped
 * to be summarised. A message has joined when it is in the journal, and not before; so has one that was told of.
 * One that interrupts the turn just now does not join it: it aborts it, and has the next. False: that is so.
 */
export async function joinWaiting(
  { claim, journal, items }: Pick<Work, "claim" | "journal" | "items">,
  parts: JoinPorts,
): Promise<boolean> {
  const [first] = items;
  if (first === undefined || journal.isBegun || claim.abort !== undefined) return true;
  for (let reads = 0; reads < MAX_READS; reads++) {
    const [gathered, dropped] = await Promise.all([
      gather(first, parts),
      parts.store.queue.unseenDrops(claim.lease.session, { limit: MAX_PAGE }),
    ]);
    if (gathered.length === 1 && dropped.length === 0) return true;
    // What is told of them are their words: dropped to make room, by somebody who has sent many, say.
    if (isByOthers(dropped)) await markSession(claim.lease.session, ["untrusted"], parts.store);
    const outcome = await begin(journal, { first, gathered, dropped }, parts.settings.config().timezone);
    if (outcome === "stale") continue;
    if (outcome === "aborted") return false;
    items.splice(0, items.length, ...gathered);
    return true;
  }
  return true;
}

async function gather(
  first: QueueItem,
  { store, clock, gatherTurn }: JoinPorts,
): Promise<readonly QueueItem[]> {
  const readPending = async (): Promise<readonly QueueItem[]> =>
    withoutTurns(await store.queue.pending(first.session, { limit: MAX_PAGE }), store);
  return gatherTurn(first, { readPending, nowMs: clock() });
}

async function begin(
  journal: TurnJournal,
  query: {
    readonly first: QueueItem;
    readonly gathered: readonly QueueItem[];
    readonly dropped: readonly QueueItem[];
  },
  timezone: string,
): Promise<Taking> {
  const messages = query.gathered.map((item) => toQuery(item, timezone));
  messages[0] = withMemory(messages[0]!, memoryOf(journal.messages[0]));
  const items = query.gathered.map((item) => (item.id === query.first.id ? [] : [item]));
  if (query.dropped.length > 0) {
    messages[0] = withNote(messages[0], droppedNote(query.dropped));
    items[0]!.push(...query.dropped);
  }
  return tryTaking(() => journal.begin(messages, items));
}

/** stale: somebody dropped one of the messages just now. aborted: the turn was asked to end, and takes none. */
type Taking = "taken" | "stale" | "aborted";

/** Writes to the journal what takes messages into a turn. */
export async function tryTaking(write: () => Promise<void>): Promise<Taking> {
  try {
    await write();
    return "taken";
  } catch (error) {
    if (error instanceof CortexError && error.code === "item_unknown") return "stale";
    if (error instanceof CortexError && error.code === "state_conflict") return "aborted";
    throw error;
  }
}

function withNote(message: Message, note: string): Message {
  const body = message.body as UserBody | undefined;
  const extracted = [body?.extracted, note].filter((part) => part !== undefined).join("\n");
  return { ...message, body: { ...body, extracted } };
}

/** A dead letter that is to be tried again has a turn with a journal, and goes on with that. */
export async function withoutTurns(items: readonly QueueItem[], store: Store): Promise<readonly QueueItem[]> {
  const outcomes = await Promise.all(items.map(({ id }) => store.queue.outcome(id)));
  return items.filter((_, i) => outcomes[i]?.turn === undefined);
}
