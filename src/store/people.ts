import type { Json } from "../model/json.ts";
import type { Person, PersonLimits, Role } from "../model/person.ts";
import type { Identity, Principal } from "../model/principal.ts";
import type { Actor } from "./audit.ts";
import type { Listed, ListOptions } from "./list.ts";

/** People, and the identities they are known by. Every change is an entry of the audit log, in the same commit. */
export interface PeopleReads {
  get(id: string): Promise<StoredPerson | undefined>;

  /** Whose identity it is. */
  find(identity: Identity): Promise<StoredPerson | undefined>;

  /** Newest first. */
  list(options?: ListOptions): Promise<Listed<StoredPerson>>;
}

export interface PeopleStore extends PeopleReads {
  /** `state_conflict` if the id or an identity is taken, or the id belonged to a removed person who had none of these; `limit_invalid` for more than MAX_PEOPLE. */
  add(person: NewPerson, by: Actor): Promise<StoredPerson>;

  /** Changes what is given. `person_unknown`; `state_conflict` for what would leave no owner, or a taken identity. */
  change(id: string, change: PersonChange, by: Actor): Promise<StoredPerson>;

  /** Their identities are unknown from then on. What they said stays. `person_unknown`; never the owner. */
  remove(id: string, by: Actor): Promise<void>;

  /**
   * Adds people whom the configuration of an older version names; identities of one with the role owner become the
   * owner's. An identity is taken over once, so that nobody comes back who was removed, and never from another person.
   * An id that is taken gets a number behind it. Returns how many people this added or changed.
   */
  takeOver(people: readonly NewPerson[]): Promise<number>;

  /** Takes from what a person may use, which refills steadily. False: less is left, and nothing is taken. */
  take(use: PersonUse): Promise<boolean>;
}

export interface PersonUse {
  readonly principal: Principal;
  /** Messages that are queued count too: see `PersonQuota`. */
  readonly what: "messages" | "attachments";
  readonly amount: number;
  readonly max: number;
  /** In which time all of it is there again. */
  readonly refillMs: number;
}

export interface NewPerson {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly identities?: readonly Identity[];
  readonly permissions?: Json;
  readonly limits?: PersonLimits;
}

export interface PersonChange {
  readonly name?: string;
  readonly role?: Role;
  /** Identities that they get, and lose. */
  readonly link?: readonly Identity[];
  readonly unlink?: readonly Identity[];
  /** Null: nothing is narrowed any more. */
  readonly permissions?: Json;
  /** Merged; null removes a limit of their own. */
  readonly limits?: Readonly<Partial<Record<keyof PersonLimits, number | null>>>;
}

export interface StoredPerson extends Person {
  readonly createdAtMs: number;
}
