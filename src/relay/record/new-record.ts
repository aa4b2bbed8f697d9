/** Where the record of a relay begins: at its first script, with nothing done. */
import { randomBytes } from "node:crypto";
import type { RelayId } from "../../model/ids.ts";
import type { Endpoint } from "../templates/endpoint.ts";
import { toRelayId } from "./keys.ts";
import type { RelayMetadata, RelayRecord, Slot } from "./record.ts";

export interface NewRecord {
  readonly id: RelayId;
  readonly templateName: string | null;
  readonly configHash: string;
  readonly slots: readonly Pick<Slot, "slotId" | "profile" | "persistSession">[];
  readonly entry: Endpoint;
  readonly channel: string;
  readonly platformThreadId?: string;
  readonly userMessage: string;
  /** Undefined: it gets one when a step needs it. */
  readonly workspace?: { readonly path: string; readonly artifact: string };
  readonly metadata?: RelayMetadata;
  readonly nowMs: number;
}

export function newRecord(relay: NewRecord): RelayRecord {
  const now = timestamp(relay.nowMs);
  return {
    id: relay.id,
    templateName: relay.templateName,
    status: "running",
    channel: relay.channel,
    platformThreadId: relay.platformThreadId ?? null,
    userMessage: relay.userMessage,
    userMessageTs: now,
    workspacePath: relay.workspace?.path ?? "",
    artifactPath: relay.workspace?.artifact ?? "",
    agents: Object.fromEntries(relay.slots.map((slot) => [slot.slotId, newSlot(slot)])),
    activeAgent: relay.entry.agent,
    activeStage: relay.entry.stage,
    currentStepIndex: 0,
    steps: [],
    iterationCounts: {},
    totalCostUsd: 0,
    createdAt: now,
    updatedAt: now,
    endedAt: null,
    error: null,
    abortReason: null,
    metadata: relay.metadata ?? null,
    stopReason: null,
    configHash: relay.configHash,
    phase: { kind: "script", point: "start", source: "template", state: "due" },
    active: [relay.entry],
    leg: 0,
    ending: null,
  };
}

export function newSlot(slot: Pick<Slot, "slotId" | "profile" | "persistSession">): Slot {
  return { ...slot, sessionId: null, sessionName: null, status: "idle", lastOutput: null };
}

/** Whoever keeps relays draws again where it is taken. */
export function newRelayId(): RelayId {
  return toRelayId(randomBytes(4).toString("hex"));
}

export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
