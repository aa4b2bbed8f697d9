import type { Identity } from "../model/principal.ts";
import type { DeliveryTarget } from "./deliveries.ts";

/** Codes that strangers were given, by which the owner can let them in. */
export interface PairingReads {
  /** Codes that are valid at a time, newest first, at most MAX_PAIRINGS. */
  list(nowMs: number): Promise<Pairing[]>;

  /** Undefined: the code is unknown, used or too old. */
  find(code: string, nowMs: number): Promise<Pairing | undefined>;
}

export interface PairingStore extends PairingReads {
  /**
   * Offers a code to an identity. One that has a valid code keeps it: then `fresh` is false. Undefined: MAX_PAIRINGS codes
   * are valid already.
   */
  offer(pairing: NewPairing): Promise<{ readonly code: string; readonly fresh: boolean } | undefined>;

  /** Uses a code up. May be repeated. */
  remove(code: string): Promise<void>;
}

export interface NewPairing {
  /** `telegram:42`. */
  readonly identity: Identity;
  /** As the platform shows them. */
  readonly name: string;
  /** Where they wrote. */
  readonly target: DeliveryTarget;
  readonly code: string;
  readonly expiresAtMs: number;
}

/** Who is let in. */
export interface PairAs {
  readonly role: "owner" | "member";
  /** Of a member: an existing person, or the id of a new one. Absent: an id made of the identity. */
  readonly person?: string;
}

export interface Pairing extends NewPairing {
  readonly offeredAtMs: number;
}
