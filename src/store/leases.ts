import type { RunId, TurnId } from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";

export interface LeaseRequest {
  /** Who will hold the lease: one name for each process. */
  readonly holder: string;
  readonly ttlMs: number;
}

/** The right to write for a session, until somebody else has a lease of a higher epoch. */
export interface Lease {
  readonly session: SessionKey;
  readonly epoch: number;
}

/** A run to carry out. */
export interface Claim {
  readonly lease: Lease;
  readonly run: RunId;
  readonly turn: TurnId;
  /** The head of the session at this moment: the turn that the new one will follow. */
  readonly parent: TurnId | undefined;
  /** 1 for the first run of the turn. Only failed runs count. */
  readonly attempt: number;
  /** How often in a row the run was cut off by a crash. Counted anew from 1 when its journal has grown. */
  readonly interruptions: number;
  /** Whether there is a journal to replay. */
  readonly journalled: boolean;
  /** Somebody asked for the run to be aborted; the reason. */
  readonly abort: string | undefined;
}
