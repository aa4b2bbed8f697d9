/** A move of a relay while it is made out: what will be saved, all of it at once. */
import { CortexError } from "../../model/errors.ts";
import type { RelayStepOrder } from "../../store/store.ts";
import type { Abort } from "../record/abort-marker.ts";
import { type EndingStart, finish } from "../record/ending.ts";
import { printEndpoint } from "../templates/endpoint.ts";
import type { RelayRecord, RelayStep } from "../record/record.ts";

export interface Draft {
  record: RelayRecord;
  /** The messages that ask for the steps which it begins. */
  readonly orders: Map<number, RelayStepOrder>;
  /** What people are told on the way. */
  readonly notices: string[];
  /** What is told at the end: the artifact, and how it went. Undefined: it is not over. */
  farewell: string | undefined;
  /** Why what runs of it is to end. */
  stop: string | undefined;
  /** An agent has asked for it by the tool, in a step that has ended just now. */
  abort: Abort | undefined;
  /** As it was found after the step that has ended just now, and is while nobody works on it. */
  artifact: ArtifactState | undefined;
}

export interface ArtifactState {
  /** Undefined: it cannot be read. */
  readonly text: string | undefined;
  /** By which it is kept. */
  readonly hash: string | null;
}

export function newDraft(record: RelayRecord): Draft {
  return {
    record,
    orders: new Map(),
    notices: [],
    farewell: undefined,
    stop: undefined,
    abort: undefined,
    artifact: undefined,
  };
}

/** Brings the relay to its end, and what runs of it too. The first ending wins. */
export function conclude(draft: Draft, ending: EndingStart, nowMs: number): void {
  const before = draft.record;
  draft.record = finish(before, ending, nowMs);
  if (draft.record !== before && before.steps.some(isRunning))
    draft.stop = `the relay ends: ${ending.stopReason}`;
}

/** Fails of what is wrong with the relay itself. Everything else is thrown on: the store's own trouble passes. */
export function fail(draft: Draft, error: unknown, nowMs: number): void {
  if (!isLasting(error)) throw error;
  conclude(draft, { stopReason: "failed", error: `${error.message}. ${error.hint}` }, nowMs);
}

/** Whether something would go wrong again, however often it is tried. */
export function isLasting(error: unknown): error is CortexError {
  return error instanceof CortexError && !error.transient && !error.code.startsWith("store_");
}

export function isRunning({ status }: RelayStep): boolean {
  return status === "running";
}

export function nameOf({ agentSlotId, stage }: RelayStep): string {
  return printEndpoint({ agent: agentSlotId, stage });
}
