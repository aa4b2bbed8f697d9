/**
 * A relay as it is kept: its record without the steps, each step by itself, and what it runs with. A save writes the record
 * and only the steps that have changed, so that a long relay costs no more at its end than at its beginning.
 */
import { CortexError } from "../../model/errors.ts";
import type { EventId, PersonaId, RelayId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type {
  RelayChange,
  RelayStepChange,
  RelayStepOrder,
  Store,
  StoredRelay,
  StoredRelayStep,
} from "../../store/store.ts";
import { isTerminal, type RelayRecord, type RelayStep } from "./record.ts";
import { readSnapshot, type SnapshotContent } from "../templates/snapshot.ts";

/** What is known of a relay that programs which read its record do not need. */
export interface RelayDetail {
  /** Where its steps work. Absent: in its own workspace. */
  readonly dir?: string;
  readonly session?: SessionKey;
  readonly persona?: PersonaId;
  /** What its steps may do at most: what whoever started it may. */
  readonly permissions?: Json;
  /** Folders that stay closed to them. */
  readonly hidden?: readonly string[];
  /** It goes on after a restart, whatever `relay.onRestart` says: somebody waits for it who outlives the process. */
  readonly resumes?: true;
  /** Where people are told of it. */
  readonly delivery?: Json;
  /** The event that led to it. */
  readonly cause?: EventId;
  readonly budgetUsd?: number;
  readonly idempotencyKey?: string;
  /** With a key: the digest of what it was used for. */
  readonly asked?: string;
  /** Whether the session that started it is sent a message at its end. */
  readonly tells?: boolean;
  /** The last messages to it that were kept for a step, by their events: none of them is kept twice. */
  readonly said?: readonly string[];
  /** The turn that waited for it has been ended, for this reason. Written by the store. */
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

/** The steps are read after the record: what ends in between makes it another version, to which no change is made. */
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
    detail: detailOf(stored),
    content: config === undefined ? NOTHING : readSnapshot({ json: config }),
    rows,
  };
}

export function detailOf({ detail }: Pick<StoredRelay, "detail">): RelayDetail {
  return (detail ?? {}) as unknown as RelayDetail;
}

export function toStep({ record }: Pick<StoredRelayStep, "record">): RelayStep {
  return record as unknown as RelayStep;
}

export function toRecord({ record }: StoredRelay, rows: readonly StoredRelayStep[]): RelayRecord {
  const { slots = [], ...kept } = record as unknown as StoredRecord;
  const ordered = Object.fromEntries(
    slots.filter((slot) => Object.hasOwn(kept.agents, slot)).map((slot) => [slot, kept.agents[slot]!]),
  );
  const steps = rows.map(toStep);
  return { ...kept, agents: { ...ordered, ...kept.agents }, steps };
}

/** The store keeps the fields of an object in an order of its own, so that of the slots is kept beside them. */
type StoredRecord = Omit<RelayRecord, "steps"> & { readonly slots?: readonly string[] };

export function toStored(record: RelayRecord): Json {
  const { steps: _, ...rest } = record;
  const kept: StoredRecord = { ...rest, slots: Object.keys(record.agents) };
  return kept as unknown as Json;
}

export function toStepChange(step: RelayStep, accept?: RelayStepOrder): RelayStepChange {
  return {
    step: step.stepIndex,
    slot: step.agentSlotId,
    record: step as unknown as Json,
    isEnded: step.status !== "running",
    costUsd: step.costUsd,
    ...(accept === undefined ? {} : { accept }),
  };
}

/** What a save writes of a record: the steps that are not those of the record before it. */
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
 * Changes a relay, again if something else has changed it in the meantime. Undefined: the function left it as it is.
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
    if (relay === undefined) throw relayUnknown(id);
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

/** Whether something else has changed the relay since it was read. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof CortexError && error.code === "state_conflict";
}

export function relayUnknown(id: string): CortexError {
  return new CortexError("relay_unknown", `No relay has the id "${id}"`, {
    hint: "`cortex relay list` lists the relays there are.",
  });
}
