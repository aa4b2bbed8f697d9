/** The initial record of a relay: before its first script. */
import type { Endpoint } from "../templates/endpoint.ts";
import type { RelayMetadata, RelayRecord, Slot } from "./record.ts";

export type NewSlot = Pick<Slot, "slotId" | "profile" | "persistSession">;

export interface NewRecord extends Pick<
  RelayRecord,
  "id" | "templateName" | "configHash" | "channel" | "userMessage"
> {
  readonly slots: readonly NewSlot[];
  readonly entry: Endpoint;
  readonly platformThreadId?: string;
  /** Undefined: created when a step needs it. */
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

export function newSlot(slot: NewSlot): Slot {
  return { ...slot, sessionId: null, sessionName: null, status: "idle", lastOutput: null };
}

export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
