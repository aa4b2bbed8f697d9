/** A move of a relay in preparation: everything that one save will contain. */
import { CortexError } from "../../model/errors.ts";
import type { RelayStepOrder } from "../../store/store.ts";
import type { Abort } from "../record/abort-marker.ts";
import { type EndingStart, finish } from "../record/ending.ts";

import type { RelayRecord, RelayStep } from "../record/record.ts";

export interface MoveDraft {
  record: RelayRecord;
  /** The messages that request the steps it begins. */
  readonly orders: Map<number, RelayStepOrder>;
  /** Progress notices for people. */
  readonly notices: string[];
  /** The final notice: the artifact and a summary. Undefined: not over. */
  farewell: string | undefined;
  /** Why running steps are stopped. */
  stop: string | undefined;
  /** Requested with the tool, in a step that has just ended. */
  abort: Abort | undefined;
  /** As found after the step that has just ended. No step is changing it. */
  artifact: ArtifactState | undefined;
}

export interface ArtifactState {
  /** Undefined: unreadable. */
  readonly text: string | undefined;
  /** The hash under which it is stored. */
  readonly hash: string | null;
}

export function newDraft(record: RelayRecord): MoveDraft {
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

/** Ends the relay and stops its running steps. The first ending wins. */
export function conclude(draft: MoveDraft, ending: EndingStart, nowMs: number): void {
  const before = draft.record;
  draft.record = finish(before, ending, nowMs);
  if (draft.record !== before && before.steps.some(isRunning))
    draft.stop = `the relay ends: ${ending.stopReason}`;
}

/** Fails the relay because of a permanent error. Rethrows any other error, such as transient trouble of the store. */
export function failRelay(draft: MoveDraft, error: unknown, nowMs: number): void {
  if (!isLasting(error)) throw error;
  conclude(draft, { stopReason: "failed", error: `${error.message}. ${error.hint}` }, nowMs);
}

/** Whether retrying is pointless. */
export function isLasting(error: unknown): error is CortexError {
  return error instanceof CortexError && !error.transient && !error.code.startsWith("store_");
}

export function isRunning({ status }: RelayStep): boolean {
  return status === "running";
}
