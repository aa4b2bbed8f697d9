import type { RunId, TurnId } from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";

export interface LeaseRequest {
  /** The holder's name, one per process. */
  readonly holder: string;
  readonly ttlMs: number;
  /** How many runs of others than the owner the holder may have at once. Absent: any number. */
  readonly others?: number;
}

/** The right to write for a session. It ends when another holder gets a lease with a higher epoch. */
export interface Lease {
  readonly session: SessionKey;
  readonly epoch: number;
}

/** A run to execute. */
export interface Claim {
  readonly lease: Lease;
  readonly run: RunId;
  readonly turn: TurnId;
  /** The current head of the session, which the new turn follows. */
  readonly parent: TurnId | undefined;
  /** 1 for the first run of the turn. Only failed runs count. */
  readonly attempt: number;
  /** Consecutive crashes of the run. Restarts at 1 once its journal has grown. */
  readonly interruptions: number;
  /** Whether there is a journal to replay. */
  readonly journalled: boolean;
  /** Why an abort was requested. Undefined: none was. */
  readonly abort: string | undefined;
}
