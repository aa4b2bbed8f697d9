/** People who talk with Cortex, known by their identities on channels. They are in the store, not in the configuration. */
import type { Identity } from "./principal.ts";
import type { Json } from "./json.ts";

/** owner: may do everything. member: may talk, with at most their permissions. guest: recorded, never answered. */
export const ROLES = ["owner", "member", "guest"] as const;
export type Role = (typeof ROLES)[number];

/** The person who holds the main token. Always there, and the only one with this role. */
export const OWNER_ID = "owner";

/** The id of a person, as in the principal `person:<id>`. */
export const PERSON_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** What one person may use. Absent: the default of `people.limits` in the configuration. */
export interface PersonLimits {
  /** How many of their messages may wait, over all sessions. */
  readonly pending?: number;
  /** How many of their messages are taken in a minute. */
  readonly perMinute?: number;
  /** What their turns may cost in a day, with all that these cause. */
  readonly usdPerDay?: number;
}

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** Each belongs to one person only. */
  readonly identities: readonly Identity[];
  /** Narrows the permissions of agents that answer them, as in a dispatch. Undefined: not at all. */
  readonly permissions: Json | undefined;
  readonly limits: PersonLimits;
}
