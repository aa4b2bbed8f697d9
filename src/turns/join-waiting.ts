import type { Config } from "../config/config.ts";
import { CortexError } from "../model/errors.ts";
import type { Message, UserBody } from "../model/message.ts";
import { MAX_PAGE, type QueueItem, type Store } from "../store/store.ts";
import { droppedNote } from "./dropped-note.ts";
import type { TurnJournal } from "./journal.ts";
import { markSession } from "./mark-session.ts";
import { memoryOf, withMemory } from "./memory.ts";
import { withoutTurns } from "./pending.ts";
import type { Work } from "./prepare.ts";
import { toQuery } from "./query.ts";
import { isByOthers } from "./untrusted.ts";

export interface JoinParts {
  readonly store: Store;
  readonly config: () => Config;
  readonly clock: () => number;
  /** The messages of a turn that begins, in order: the one that it was claimed for, and those that join it. */
  readonly gatherTurn: (
    first: QueueItem,
    waiting: { readonly readPending: () => Promise<readonly QueueItem[]>; readonly nowMs: number },
  ) => Promise<readonly QueueItem[]>;
}

/** How often what waits is read anew because somebody has dropped one of the messages meanwhile. */
const MAX_READS = 10;

/**
 * Takes the messages that belong to a turn into it before it begins, and tells it of those that were dropped
 * to be summarised. A message has joined when it is in the journal, and not before; so has one that was told of.
 */
export async function joinWaiting(
  { claim, journal, items }: Pick<Work, "claim" | "journal" | "items">,
  parts: JoinParts,
): Promise<void> {
  const [first] = items;
  if (first === undefined || journal.isBegun || claim.abort !== undefined) return;
  for (let reads = 0; reads < MAX_READS; reads++) {
    const [gathered, dropped] = await Promise.all([
      gather(first, parts),
      parts.store.queue.unseenDrops(claim.lease.session, { limit: MAX_PAGE }),
    ]);
    if (gathered.length === 1 && dropped.length === 0) return;
    // What is told of them are their words: dropped to make room, by somebody who has sent many, say.
    if (isByOthers(dropped)) await markSession(claim.lease.session, ["untrusted"], parts.store);
    if (!(await begin(journal, { first, gathered, dropped }, parts.config().timezone))) continue;
    items.splice(0, items.length, ...gathered);
    return;
  }
}

async function gather(
  first: QueueItem,
  { store, clock, gatherTurn }: JoinParts,
): Promise<readonly QueueItem[]> {
  const readPending = async (): Promise<readonly QueueItem[]> =>
    withoutTurns(await store.queue.pending(first.session, { limit: MAX_PAGE }), store);
  return gatherTurn(first, { readPending, nowMs: clock() });
}

/** False: somebody dropped one of them just now. */
async function begin(
  journal: TurnJournal,
  query: {
    readonly first: QueueItem;
    readonly gathered: readonly QueueItem[];
    readonly dropped: readonly QueueItem[];
  },
  timezone: string,
): Promise<boolean> {
  const messages = query.gathered.map((item) => toQuery(item, timezone));
  messages[0] = withMemory(messages[0]!, memoryOf(journal.messages[0]));
  const items = query.gathered.map(({ id }) => (id === query.first.id ? [] : [id]));
  if (query.dropped.length > 0) {
    messages[0] = withNote(messages[0], droppedNote(query.dropped));
    items[0]!.push(...query.dropped.map(({ id }) => id));
  }
  try {
    await journal.begin(messages, items);
    return true;
  } catch (error) {
    if (error instanceof CortexError && error.code === "item_unknown") return false;
    throw error;
  }
}

function withNote(message: Message, note: string): Message {
  const body = message.body as UserBody | undefined;
  const extracted = [body?.extracted, note].filter((part) => part !== undefined).join("\n");
  return { ...message, body: { ...body, extracted } };
}
