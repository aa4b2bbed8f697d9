/**
 * Which waiting messages become part of a turn that another message began, and how they enter it.
 *
 * At its start, a turn of a message that collects takes what was collected with it, and a turn of one that
 * interrupts takes everything that waited before. While it runs, messages that steer enter it. All must
 * belong to the same conversation: a turn has one answer, which goes to one address, one principal, and one set of
 * permissions. A message that wants anything else waits for its own turn. Messages from other agents are taken
 * wherever the answer goes.
 *
 * A message has entered a turn when it is in the journal, and not before.
 */
import assert from "node:assert/strict";

import { CortexError } from "../model/errors.ts";
import { HOOK_ADAPTER, splitEventId } from "../model/event.ts";
import { REMARK_HOOK } from "../model/hook-order.ts";
import { canonicalJson } from "../model/json.ts";
import type { Message, UserBody } from "../model/message.ts";
import { answeredMessage, stampOf } from "../model/stamp.ts";
import { MAX_PAGE, type QueueItem, type Store } from "../store/store.ts";
import type { TurnJournal } from "./journal.ts";
import { memoryOf, withMemory } from "./memory.ts";
import type { RunWork } from "./prepare.ts";
import { toQuery } from "./query.ts";
import { labelSession, labelsOfMessages } from "./setup.ts";
import type { TurnPorts } from "./turn-ports.ts";

type JoiningTurn = Pick<RunWork, "claim" | "journal" | "items">;
type JoinPorts = Pick<TurnPorts, "store" | "clock"> & {
  readonly settings: Pick<TurnPorts["settings"], "config">;
};

/** How often the waiting messages are read again because one of them was dropped meanwhile. */
const MAX_READS = 10;

/**
 * Takes the messages that belong to a turn into it before it begins, and tells it of messages that were dropped
 * to be summarised. A message that interrupts the turn right now does not join: it aborts the turn and gets the next
 * one. False: that has happened.
 */
export async function joinWaiting(
  { claim, journal, items }: JoiningTurn,
  ports: JoinPorts,
): Promise<boolean> {
  const { store, settings } = ports;
  const [first] = items;
  if (first === undefined || journal.isBegun || claim.abort !== undefined) return true;
  for (let reads = 0; reads < MAX_READS; reads++) {
    const [gathered, dropped] = await Promise.all([
      gather(first, ports),
      store.queue.unseenDrops(claim.lease.session, { limit: MAX_PAGE, principal: first.event.principal }),
    ]);
    if (gathered.length === 1 && dropped.length === 0) return true;
    // The turn is told their words, which may be anyone's.
    await labelSession(claim.lease.session, labelsOfMessages([...gathered, ...dropped], claim.turn), store);
    const outcome = await begin(journal, { first, gathered, dropped }, settings.config().timezone);
    if (outcome === "stale") continue;
    if (outcome === "aborted") return false;
    items.splice(0, items.length, ...gathered);
    return true;
  }
  return true;
}

function gather(first: QueueItem, { store, clock }: JoinPorts): Promise<readonly QueueItem[]> {
  return gatherTurn(first, { readPending: () => readPending(first.session, store), nowMs: clock() });
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
  const [first, ...others] = query.gathered.map((item) => toQuery(item, timezone));
  const [ofFirst = [], ...items] = query.gathered.map((item) => (item.id === query.first.id ? [] : [item]));
  assert(first !== undefined);
  const remembering = withMemory(first, memoryOf(journal.messages[0]));
  if (query.dropped.length === 0)
    return tryTaking(() => journal.begin([remembering, ...others], [ofFirst, ...items]));
  const told = withNote(remembering, unseenNote(query.dropped));
  return tryTaking(() => journal.begin([told, ...others], [[...ofFirst, ...query.dropped], ...items]));
}

/** stale: one of the messages was just dropped. aborted: the turn was asked to end, and takes no more. */
type Taking = "taken" | "stale" | "aborted";

/** Makes a write to the journal that takes messages into a turn. */
async function tryTaking(write: () => Promise<void>): Promise<Taking> {
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

/** The waiting messages that would enter a running turn. */
export async function readSteering(
  { claim, items }: JoiningTurn,
  { store, clock }: JoinPorts,
): Promise<readonly QueueItem[]> {
  const pending = await store.queue.pending(claim.lease.session, { limit: MAX_PAGE });
  return withoutTurns(selectSteering(pending, { items, nowMs: clock() }), store);
}

/** Makes messages part of the turn, and returns them for the model. Undefined: the turn was asked to end. */
export async function takeSteering(
  steering: readonly QueueItem[],
  work: JoiningTurn,
  ports: JoinPorts,
): Promise<readonly Message[] | undefined> {
  if (steering.length === 0) return [];
  const { timezone } = ports.settings.config();
  const messages = steering.map((item) => toQuery(item, timezone));
  await labelSession(work.claim.lease.session, labelsOfMessages(steering, work.claim.turn), ports.store);
  const outcome = await tryTaking(() => work.journal.addMessages(messages, steering));
  if (outcome === "aborted") return undefined;
  if (outcome === "stale") return []; // those that still wait are read again at the next step, or by the next turn
  work.items.push(...steering);
  return messages;
}

async function readPending(session: QueueItem["session"], store: Store): Promise<readonly QueueItem[]> {
  return withoutTurns(await store.queue.pending(session, { limit: MAX_PAGE }), store);
}

/** A dead letter that is retried has a turn with a journal, and continues that. */
async function withoutTurns(items: readonly QueueItem[], store: Store): Promise<readonly QueueItem[]> {
  const outcomes = await Promise.all(items.map(({ id }) => store.queue.outcome(id)));
  return items.filter((_, i) => outcomes[i]?.turn === undefined);
}

/** The waiting messages that enter a running turn, in order. */
export function selectSteering(
  pending: readonly QueueItem[],
  running: { readonly items: readonly QueueItem[]; readonly nowMs: number },
): QueueItem[] {
  const answered = answeredMessage(running.items);
  if (answered === undefined) return [];
  return pending.filter((item) => steers(item) && item.dueMs <= running.nowMs && goesWith(item, answered));
}

/** The messages of a turn that begins: the one it was claimed for, and those that join it, as they were queued. */
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

/** After several interruptions in a row, one answer is wanted: everything up to the last one belongs to it. */
function drained(pending: readonly QueueItem[], first: QueueItem, nowMs: number): QueueItem[] {
  const last = pending.findLast(({ mode }) => mode === "interrupt");
  const until = last === undefined || isOlder(last, first) ? first : last;
  return pending.filter((item) => {
    // A collecting message is due later only because more might follow.
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

/** Ids are minted in the order of arrival, which decides between two messages of the same millisecond. */
function isOlder(a: QueueItem, b: QueueItem): boolean {
  return a.queuedAtMs === b.queuedAtMs ? a.id < b.id : a.queuedAtMs < b.queuedAtMs;
}

function goesWith(item: QueueItem, first: QueueItem): boolean {
  return (
    item.event.principal === first.event.principal &&
    (isOfAgent(item) || isLateFor(item, first) || hasSameAddress(item, first)) &&
    asksForNoMore("permissions", item, first) &&
    asksForNoMore("profile", item, first)
  );
}

/** A message between agents belongs to the turn, wherever the answer goes. */
function isOfAgent({ event }: QueueItem): boolean {
  return stampOf(event)?.kind === "message";
}

/** What a hook adds to the answered message belongs to the turn, whatever address the hook names. */
function isLateFor({ event }: QueueItem, first: QueueItem): boolean {
  return splitEventId(event.id).adapter === HOOK_ADAPTER && event.cause === first.event.id;
}

function hasSameAddress(item: QueueItem, first: QueueItem): boolean {
  return addressOf(item) === addressOf(first) && wishOf("delivery", item) === wishOf("delivery", first);
}

/** A message without a wish accepts what the turn has. */
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

/** Messages without an address (the command line, HTTP) are answered in the ledger only, so they go together. */
function addressOf({ event: { channel, account, place, topic } }: QueueItem): string {
  return place === undefined ? "" : JSON.stringify([channel, account, place, topic]);
}

export const MAX_DROPPED_LINES = 20;
export const MAX_DROPPED_LINE_LENGTH = 160;

/** Tells a turn of what people did with messages, and of messages that were dropped: one line each. */
function unseenNote(unseen: readonly QueueItem[]): string {
  const remarks = unseen.filter(isRemark);
  const dropped = unseen.filter((item) => !isRemark(item));
  return [
    ...remarks.map((item) => `[${toLine(item, "")}]`),
    ...(dropped.length === 0 ? [] : [droppedNote(dropped)]),
  ].join("\n");
}

function isRemark({ dispatches }: QueueItem): boolean {
  return dispatches.some(({ hook }) => hook === REMARK_HOOK);
}

/** Tells a turn of messages that were dropped because too many waited: one line each. */
export function droppedNote(dropped: readonly QueueItem[]): string {
  const told = dropped.slice(0, MAX_DROPPED_LINES).map((item) => toLine(item, bySender(item)));
  const left = dropped.length - told.length;
  return [
    `${dropped.length === 1 ? "A message was" : `${dropped.length} messages were`} dropped because the queue was full:`,
    ...told,
    ...(left === 0 ? [] : [`- and ${left} more`]),
  ].join("\n");
}

function bySender({ event: { sender } }: QueueItem): string {
  return `- ${sender === undefined ? "" : `${sender}: `}`;
}

/** A message stays on its line: text from others must not look like ours. */
function toLine({ event, dispatches }: QueueItem, head: string): string {
  const content = dispatches.find(({ message }) => message !== undefined)?.message ?? event.content ?? "";
  const flat = `${head}${content}`
    .slice(0, 4 * MAX_DROPPED_LINE_LENGTH) // long before the next step would have much to do
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trimEnd();
  return flat.length <= MAX_DROPPED_LINE_LENGTH
    ? flat.toWellFormed()
    : `${flat.slice(0, MAX_DROPPED_LINE_LENGTH - 1).toWellFormed()}…`;
}
