/**
 * Which waiting messages become part of a turn that was begun by another.
 *
 * At its start, a turn of a message that collects takes what was collected with it, and a turn of one that
 * interrupts takes all that waited before. While it is under way, messages that steer enter it. They must
 * belong to the same conversation: a turn has one answer, which goes to one address, and one set of
 * permissions. A message that wants anything else waits for a turn of its own. What another agent writes is heard
 * wherever the answer goes.
 */
import { HOOK_ADAPTER, splitEventId } from "../model/event.ts";
import { canonicalJson } from "../model/json.ts";
import { answeredMessage, stampOf } from "../model/stamp.ts";
import type { QueueItem } from "../store/store.ts";

/** The waiting messages that go into a turn which is under way, in order. */
export function selectSteering(
  pending: readonly QueueItem[],
  running: { readonly items: readonly QueueItem[]; readonly nowMs: number },
): QueueItem[] {
  const answered = answeredMessage(running.items);
  if (answered === undefined) return [];
  return pending.filter((item) => steers(item) && item.dueMs <= running.nowMs && goesWith(item, answered));
}

/** The messages of a turn that begins: the one that it was claimed for, and those that join it, as they were queued. */
export async function gatherTurn(
  first: QueueItem,
  {
    readPending,
    nowMs,
  }: { readonly readPending: () => Promise<readonly QueueItem[]>; readonly nowMs: number },
): Promise<QueueItem[]> {
  switch (first.mode) {
    case "collect":
      return withJoining(first, collected(await readPending(), nowMs));
    case "interrupt":
      return withJoining(first, drained(await readPending(), first, nowMs));
    case "steer":
    case "steer-backlog":
    case "followup":
    case "queue":
      return [first];
  }
}

function collected(pending: readonly QueueItem[], nowMs: number): QueueItem[] {
  return pending.filter(({ mode, dueMs }) => mode === "collect" && dueMs <= nowMs);
}

/** Whoever interrupts twice before the run has ended wants one answer: all up to the last one belong to it. */
function drained(pending: readonly QueueItem[], first: QueueItem, nowMs: number): QueueItem[] {
  const last = pending.findLast(({ mode }) => mode === "interrupt");
  const until = last === undefined || isOlder(last, first) ? first : last;
  return pending.filter((item) => {
    // One that is being collected is due later only because more was to be expected.
    const isDue = item.dueMs <= nowMs || item.mode === "collect";
    return isDue && (item === until || isOlder(item, until));
  });
}

function withJoining(first: QueueItem, candidates: readonly QueueItem[]): QueueItem[] {
  const joining = candidates.filter((item) => goesWith(item, first));
  const place = joining.findIndex((item) => isOlder(first, item));
  return joining.toSpliced(place === -1 ? joining.length : place, 0, first);
}

function steers({ mode }: QueueItem): boolean {
  return mode === "steer" || mode === "steer-backlog";
}

/** Ids are made in the order of arrival, which decides between two of the same millisecond. */
function isOlder(a: QueueItem, b: QueueItem): boolean {
  return a.queuedAtMs === b.queuedAtMs ? a.id < b.id : a.queuedAtMs < b.queuedAtMs;
}

function goesWith(item: QueueItem, first: QueueItem): boolean {
  return (
    (isOfAgent(item) || isLateFor(item, first) || hasSameAddress(item, first)) &&
    asksForNoMore("permissions", item, first) &&
    asksForNoMore("profile", item, first)
  );
}

/** What an agent writes is for the agent, wherever the answer of its turn goes. */
function isOfAgent({ event }: QueueItem): boolean {
  return stampOf(event)?.kind === "message";
}

/** What a hook adds to the message that the turn answers belongs to it, wherever the hook would have it answered. */
function isLateFor({ event }: QueueItem, first: QueueItem): boolean {
  return splitEventId(event.id).adapter === HOOK_ADAPTER && event.cause === first.event.id;
}

function hasSameAddress(item: QueueItem, first: QueueItem): boolean {
  return addressOf(item) === addressOf(first) && wishOf("delivery", item) === wishOf("delivery", first);
}

/** One that asks for nothing is content with what the turn has. */
function asksForNoMore(what: "permissions" | "profile", item: QueueItem, first: QueueItem): boolean {
  const wish = wishOf(what, item);
  return wish === undefined || wish === wishOf(what, first);
}

function wishOf(what: "delivery" | "permissions" | "profile", { dispatches }: QueueItem): string | undefined {
  const wishes = new Set(
    dispatches.flatMap((dispatch) => (dispatch[what] === undefined ? [] : canonicalJson(dispatch[what]))),
  );
  return wishes.size === 0 ? undefined : [...wishes].toSorted().join();
}

/** Messages with no address (the command line, HTTP) are answered by the ledger alone, so they go together. */
function addressOf({ event: { channel, account, place, topic } }: QueueItem): string {
  return place === undefined ? "" : JSON.stringify([channel, account, place, topic]);
}
