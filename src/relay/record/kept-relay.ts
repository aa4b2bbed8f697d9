/**
 * A relay as stored: its record without the steps, each step separately, and its configuration. A save writes the record
 * and the changed steps only, so saves of a long relay do not get slower.
 */
import { CortexError } from "../../model/errors.ts";
import type { EventId, PersonaId, RelayId } from "../../model/ids.ts";
import type { Principal } from "../../model/principal.ts";
import type { Json } from "../../model/json.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { present } from "../../model/present.ts";
import type {
  NewRelay,
  RelayChange,
  RelayStepChange,
  RelayStepOrder,
  Store,
  StoredRelay,
  StoredRelayStep,
} from "../../store/store.ts";
import { isTerminal, type RelayRecord, type RelayStep, type Slot } from "./record.ts";
import { readSnapshot, type SnapshotContent } from "../templates/snapshot.ts";

/** Internal facts about a relay, beside its record. */
export interface RelayDetail {
  /** The working folder of its steps. Absent: its own workspace. */
  readonly dir?: string;
  readonly session?: SessionKey;
  readonly persona?: PersonaId;
  /** A narrowing of its steps' permissions to those of its starter. */
  readonly permissions?: Json;
  /** Of the message: as stored, see `labelJson`. */
  readonly label?: Json;
  readonly principal?: Principal;
  /** Who hears its steps and its end. Absent: the owner. */
  readonly audience?: string;
  /** Folders its steps cannot access. */
  readonly hidden?: readonly string[];
  /** It continues after a restart regardless of `relay.onRestart`, because its starter still waits. */
  readonly resumes?: true;
  /** Where its notices go. */
  readonly delivery?: Json;
  /** The event that led to it. */
  readonly cause?: EventId;
  readonly budgetUsd?: number;
  readonly idempotencyKey?: string;
  /** With a key: the digest of the request. */
  readonly asked?: string;
  /** Whether the session that started it gets a message at its end. */
  readonly tells?: boolean;
  /** The events of the last messages buffered for a step, so none is buffered twice. */
  readonly said?: readonly string[];
  /** Why the turn that waited for it was ended. Written by the store. */
  readonly unwanted?: string;
}

export interface KeptRelay {
  readonly id: RelayId;
  readonly version: number;
  readonly isDue: boolean;
  readonly record: RelayRecord;
  readonly detail: RelayDetail;
  readonly content: SnapshotContent;
  readonly rows: readonly StoredRelayStep[];
}

const NOTHING: SnapshotContent = { added: [] };

/** Reads the steps after the record: a step that ends in between makes a new version, so a save would conflict. */
export async function readRelay(id: RelayId, store: Pick<Store, "relays">): Promise<KeptRelay | undefined> {
  const stored = await store.relays.get(id);
  if (stored === undefined) return undefined;
  const { version, isDue, configHash } = stored;
  const [rows, config] = await Promise.all([
    store.relays.steps(id),
    configHash === undefined ? undefined : store.relays.config(configHash),
  ]);
  return {
    id,
    version,
    isDue,
    record: toRecord(stored, rows),
    detail: relayDetail(stored),
    content: config === undefined ? NOTHING : readSnapshot({ json: config }),
    rows,
  };
}

export function relayDetail({ detail }: Pick<StoredRelay, "detail">): RelayDetail {
  const known: unknown = detail ?? {}; // only this file writes details and records, so their form is not checked again
  return known as RelayDetail;
}

export function toStep({ record }: Pick<StoredRelayStep, "record">): RelayStep {
  const known: unknown = record;
  return known as RelayStep;
}

export function toRecord(
  { record }: Pick<StoredRelay, "record">,
  rows: readonly StoredRelayStep[],
): RelayRecord {
  const known: unknown = record;
  const { slots = [], ...kept } = known as StoredRecord;
  const ordered = slots.flatMap((name): [string, Slot][] => {
    const slot = kept.agents[name];
    return slot === undefined || !Object.hasOwn(kept.agents, name) ? [] : [[name, slot]];
  });
  return { ...kept, agents: { ...Object.fromEntries(ordered), ...kept.agents }, steps: rows.map(toStep) };
}

/** The store does not preserve the order of an object's fields, so the order of the slots is stored separately. */
type StoredRecord = Omit<RelayRecord, "steps"> & { readonly slots?: readonly string[] };

/** A record, as the store takes it at the creation of a relay. */
export function toNewRelay(
  record: RelayRecord,
): Pick<NewRelay, "id" | "template" | "state" | "record" | "channel"> {
  const { id, templateName: template, status: state, channel } = record;
  return { id, template, state, channel, record: toStored(record) };
}

/** A relay that is created after it has ended. */
export function toEndedRelay(record: RelayRecord, times: NonNullable<NewRelay["times"]>): NewRelay {
  return { ...toNewRelay(record), steps: record.steps.map((step) => toStepChange(step)), times };
}

function toStored(record: RelayRecord): Json {
  const { steps: _, ...rest } = record;
  return toJson({ ...rest, slots: Object.keys(rest.agents) } satisfies StoredRecord);
}

/** Records consist of plain JSON values, but interfaces do not match the index signature of `Json`. */
function toJson(value: object): Json {
  return value as Json;
}

function toStepChange(step: RelayStep, accept?: RelayStepOrder): RelayStepChange {
  return {
    step: step.stepIndex,
    slot: step.agentSlotId,
    record: toJson(step),
    isEnded: step.status !== "running",
    costUsd: step.costUsd,
    ...(accept === undefined ? {} : { accept }),
  };
}

/** What a save writes: the record and the steps that differ from the previous record. */
export function changeTo(
  before: RelayRecord,
  after: RelayRecord,
  orders: ReadonlyMap<number, RelayStepOrder> = new Map(),
): Pick<RelayChange, "state" | "record" | "steps"> {
  const steps = after.steps
    .filter((step) => step !== before.steps[step.stepIndex])
    .map((step) => toStepChange(step, orders.get(step.stepIndex)));
  return { state: after.status, record: toStored(after), steps };
}

/**
 * Changes a relay, retrying if it was changed concurrently. Undefined: the function returned no change.
 * `relay_unknown`.
 */
export function updateRelay(
  id: RelayId,
  store: Pick<Store, "relays">,
  change: (relay: KeptRelay) => Promise<RelayUpdate> | RelayUpdate,
): Promise<RelayRecord>;
export function updateRelay(
  id: RelayId,
  store: Pick<Store, "relays">,
  change: (relay: KeptRelay) => Promise<RelayUpdate | undefined> | RelayUpdate | undefined,
): Promise<RelayRecord | undefined>;
export async function updateRelay(
  id: RelayId,
  store: Pick<Store, "relays">,
  change: (relay: KeptRelay) => Promise<RelayUpdate | undefined> | RelayUpdate | undefined,
): Promise<RelayRecord | undefined> {
  for (;;) {
    const relay = await readRelay(id, store);
    if (relay === undefined) throw unknownRelay(id);
    const update = await change(relay);
    if (update === undefined) return undefined;
    const { record, orders, detail, ...rest } = update;
    try {
      await store.relays.save(id, relay.version, {
        ...changeTo(relay.record, record, orders),
        due: !isTerminal(record),
        ...rest,
        ...(detail === undefined ? {} : { detail: { ...detail } }),
      });
      return record;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
  }
}

export interface RelayUpdate extends Omit<RelayChange, "state" | "record" | "steps" | "detail"> {
  readonly record: RelayRecord;
  readonly detail?: RelayDetail;
  readonly orders?: ReadonlyMap<number, RelayStepOrder>;
}

/** Whether the relay was changed since it was read. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof CortexError && error.code === "state_conflict";
}

export function unknownRelay(id: string, hint = "`cortex relay list` lists them."): CortexError {
  return new CortexError("relay_unknown", `Unknown relay "${id.slice(0, 80).toWellFormed()}"`, { hint });
}

/** All relays, page by page. */
export async function* allRelays(
  relays: Pick<Store["relays"], "list">,
  options: Omit<NonNullable<Parameters<Store["relays"]["list"]>[0]>, "cursor">,
): AsyncGenerator<StoredRelay> {
  let cursor: string | undefined;
  do {
    const page = await relays.list({ ...options, ...present({ cursor }) });
    yield* page.items;
    cursor = page.next;
  } while (cursor !== undefined);
}
