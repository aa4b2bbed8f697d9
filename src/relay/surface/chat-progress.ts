/**
 * Shows how far a relay is in the chat that it was started in: by one message, which is edited as steps go, with a button
 * that cancels the relay. It ends with the final state, and without the button.
 *
 * Nothing is remembered that a crash could lose. The message and its edits are deliveries whose ids are made from the relay
 * and its version, so each is queued once; an edit is queued when the one before it has left.
 */
import type { Ports } from "../../feature/ports.ts";
import { HOUR_MS, MINUTE_MS } from "../../model/durations.ts";
import type { DeliveryId, RelayId } from "../../model/ids.ts";
import { createUlidSource, deriveUlid } from "../../model/ulid.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import type { DeliveryTarget, StoredDelivery, StoredRelay } from "../../store/store.ts";
import { relayDetail, toRecord } from "../record/kept-relay.ts";
import { asShown } from "../record/phases.ts";
import { CANCEL, progressPlace } from "../record/progress-place.ts";
import { isTerminal, type RelayRecord } from "../record/record.ts";
import { progressText } from "./progress-text.ts";

type ProgressPorts = Pick<Ports, "store" | "clock" | "can">;

/** Between two edits. Platforms allow few, and answers need some, too. */
const PROGRESS_EVERY_MS = 4_000;
/** Relays that are followed at once, those that began last. */
const MAX_FOLLOWED = 50;
/** Older ends are no news. */
const MAX_AGE_MS = HOUR_MS;

/** What was queued last for a relay. */
interface Shown {
  readonly text: string;
  readonly edit: DeliveryId;
  readonly atMs: number;
}

export function openChatProgress(
  ports: ProgressPorts,
  { everyMs = PROGRESS_EVERY_MS, gatherMs = GATHER_MS } = {},
): WakeLoop {
  const shown = new Map<RelayId, Shown>();
  /** Those whose end is shown. */
  const over = new Set<RelayId>();
  let isFirst = true;
  return new WakeLoop({
    async round() {
      const { relays } = ports.store;
      if (!isFirst && shown.size === 0 && !(await relays.anyOpen())) return undefined;
      isFirst = false;
      const { items } = await relays.list({ limit: MAX_FOLLOWED });
      let isWaiting = false;
      for (const relay of items) {
        const isEnded = relay.endedAtMs !== undefined;
        if (!isEnded) over.delete(relay.id); // it may have been resumed
        if (over.has(relay.id)) continue;
        if ((await show(relay, shown, { ...ports, everyMs })) === "later") isWaiting = true;
        else if (isEnded) over.add(relay.id);
        if (over.has(relay.id)) shown.delete(relay.id);
      }
      for (const id of over) if (!items.some((relay) => relay.id === id)) over.delete(id);
      return isWaiting ? everyMs : undefined;
    },
    listen: (wake) => ports.store.onWake("changes", wake),
    pollMs: MINUTE_MS,
    gatherMs,
  });
}

/** Steps that follow each other at once are one edit. */
const GATHER_MS = 300;

/** later: there is more to show, after a pause. */
type Next = "shown" | "later";

async function show(
  relay: StoredRelay,
  shown: Map<RelayId, Shown>,
  { store, clock, can, everyMs }: ProgressPorts & { readonly everyMs: number },
): Promise<Next> {
  const target = progressPlace(relayDetail(relay), can);
  const { endedAtMs } = relay;
  if (target === undefined) return "shown";
  const first = await store.outbox.get(progressId(relay));
  if ((endedAtMs ?? Infinity) < clock() - MAX_AGE_MS) return "shown";
  const rows = await store.relays.steps(relay.id);
  const record = asShown(toRecord(relay, rows), rows);
  const text = progressText(record);
  if (first === undefined) {
    if (endedAtMs !== undefined) return "shown"; // it was over before anybody could see it
    await store.outbox.notify(firstMessage(relay, target, text));
    shown.set(relay.id, { text, edit: progressId(relay), atMs: clock() });
    return "later";
  }
  if (first.settledAtMs === undefined) return "later";
  if (first.state !== "sent") return "shown"; // the chat is gone
  return edit(relay, { record, text, target, shown }, { store, clock, everyMs });
}

interface Editing {
  readonly record: RelayRecord;
  readonly text: string;
  readonly target: DeliveryTarget;
  readonly shown: Map<RelayId, Shown>;
}

async function edit(
  relay: StoredRelay,
  { record, text, target, shown }: Editing,
  { store, clock, everyMs }: Pick<ProgressPorts, "store" | "clock"> & { readonly everyMs: number },
): Promise<Next> {
  const isOver = isTerminal(record);
  const id = editId(relay);
  const last = shown.get(relay.id);
  if (last?.text === text || (await store.outbox.get(id)) !== undefined) return "shown";
  const before = last === undefined ? undefined : await store.outbox.get(last.edit);
  if (!isOver && (isUnderWay(before) || (last !== undefined && clock() - last.atMs < everyMs)))
    return "later";
  const buttons = isOver ? [] : [cancelButton(relay.id)];
  await store.outbox.notify({
    id,
    target,
    content: text,
    extras: { edits: progressId(relay), ...(isOver ? {} : { buttons }) },
  });
  shown.set(relay.id, { text, edit: id, atMs: clock() });
  return "shown";
}

function isUnderWay(delivery: StoredDelivery | undefined): boolean {
  return delivery !== undefined && delivery.settledAtMs === undefined;
}

function firstMessage(relay: StoredRelay, target: DeliveryTarget, content: string) {
  return { id: progressId(relay), target, content, extras: { buttons: [cancelButton(relay.id)] } };
}

function cancelButton(id: RelayId) {
  return { label: "Cancel", data: `${CANCEL}${id}` };
}

/** The delivery of the message. */
export function progressId(relay: Pick<StoredRelay, "id" | "createdAtMs">): DeliveryId {
  return derived(relay, "progress");
}

function editId(relay: StoredRelay): DeliveryId {
  return derived(relay, `progress/${relay.version}`);
}

function derived({ id, createdAtMs }: Pick<StoredRelay, "id" | "createdAtMs">, what: string): DeliveryId {
  return deriveUlid(createUlidSource(() => createdAtMs)(), `${id}/${what}`) as DeliveryId;
}
