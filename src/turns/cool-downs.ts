/**
 * Which profiles have just failed, and so are better left alone for a while.
 *
 * Kept in memory, by profile and by nothing else: one that fails says nothing about another one, nor about the
 * sessions that use it. After a restart every profile is simply tried again.
 */
import type { TurnId } from "../model/ids.ts";
import type { Redact } from "../model/redact.ts";

export const FIRST_COOL_DOWN_MS = 10_000;
/** A provider that asks for hours is looked at again before that: it may have changed its mind. */
export const MAX_COOL_DOWN_MS = 600_000;
/** Of how many turns it is remembered which profiles refused them. One that is forgotten asks once more. */
export const MAX_TURNS_REMEMBERED = 1_000;

/** Of the error that caused a cool-down. */
const MAX_ERROR_LENGTH = 200;

/** A profile that is left alone at this moment. */
export interface CoolDown {
  readonly profile: string;
  /** In a row. */
  readonly failures: number;
  readonly untilMs: number;
  /** Of the last one. */
  readonly error: string;
}

export class CoolDowns {
  readonly #clock: () => number;
  readonly #redact: Redact;
  readonly #cooling = new Map<string, CoolDown>();
  readonly #refused = new Map<TurnId, Set<string>>();

  constructor(clock: () => number, redact: Redact = (text) => text) {
    this.#clock = clock;
    this.#redact = redact;
  }

  isCooling(profile: string): boolean {
    return this.get(profile) !== undefined;
  }

  /** Undefined: it is not left alone. */
  get(profile: string): CoolDown | undefined {
    const cooling = this.#cooling.get(profile);
    return cooling !== undefined && this.#clock() < cooling.untilMs ? cooling : undefined;
  }

  /** All that are left alone, by name. */
  list(): CoolDown[] {
    const cooling = [...this.#cooling.keys()].flatMap((profile) => this.get(profile) ?? []);
    return cooling.toSorted((a, b) => (a.profile < b.profile ? -1 : 1));
  }

  /** It may do better later: each failure in a row makes the pause longer. */
  failed(profile: string, retryAfterMs = 0, error = ""): void {
    const failures = (this.#cooling.get(profile)?.failures ?? 0) + 1;
    const growing = FIRST_COOL_DOWN_MS * 2 ** (failures - 1);
    const pauseMs = Math.min(Math.max(growing, retryAfterMs), MAX_COOL_DOWN_MS);
    this.#cooling.set(profile, {
      profile,
      failures,
      untilMs: this.#clock() + pauseMs,
      error: this.#redact(error).split("\n", 1)[0]!.slice(0, MAX_ERROR_LENGTH),
    });
  }

  answered(profile: string): void {
    this.#cooling.delete(profile);
  }

  /** Whether a profile will not have this turn, however often it is asked. */
  hasRefused(profile: string, turn: TurnId): boolean {
    return this.#refused.get(turn)?.has(profile) ?? false;
  }

  /** The fault may be the turn's own, so other turns are not kept from the profile. */
  refused(profile: string, turn: TurnId): void {
    const profiles = this.#refused.get(turn) ?? new Set();
    this.#refused.set(turn, profiles.add(profile));
    if (this.#refused.size > MAX_TURNS_REMEMBERED) this.#refused.delete(this.#refused.keys().next().value!);
  }

  /** The turn is over. */
  forget(turn: TurnId): void {
    this.#refused.delete(turn);
  }
}
