/**
 * Which model answers: the profile that a turn asks for, or a fallback while that profile is failing.
 *
 * Failures are kept in memory, by profile: a failing profile says nothing about other profiles or about the sessions
 * that use it. After a restart, every profile is simply tried again.
 */
import { count } from "../model/count.ts";
import { CortexError, type ErrorCode } from "../model/errors.ts";
import type { TurnId } from "../model/ids.ts";
import type { Profile } from "../model/profile.ts";
import type { Redact } from "../model/redact.ts";

/** The requested profile and its fallbacks, in the order in which they are tried. */
export type Candidates = readonly [requested: Profile, ...fallbacks: Profile[]];

/** The state of profiles right now, for one turn. */
export interface ProfileHealth {
  readonly isCooling: (profile: string) => boolean;
  readonly hasRefused: (profile: string) => boolean;
}

/**
 * The profile that a run uses: the first candidate that is healthy. If none is, the first that has not refused the
 * turn is tried all the same.
 */
export function chooseProfile(candidates: Candidates, health: ProfileHealth): Profile {
  const willing = candidates.filter(({ name }) => !health.hasRefused(name));
  return willing.find(({ name }) => !health.isCooling(name)) ?? willing[0] ?? candidates[0];
}

/** Each profile's own fallbacks come right after it. The configuration has no cycles, but it may change during a turn. */
export function fallbackChain(requested: Profile, profileOf: (name: string) => Profile): Candidates {
  const chain: [Profile, ...Profile[]] = [requested];
  const addFallbacks = ({ fallback }: Profile): void => {
    for (const profile of fallback.map(profileOf)) {
      if (chain.some(({ name }) => name === profile.name)) continue;
      chain.push(profile);
      addFallbacks(profile);
    }
  };
  addFallbacks(requested);
  return chain;
}

/** What a turn can do after its model has failed: use another profile now or later, or nothing. */
export type Alternative = "now" | "later" | "none";

export function alternativeTo(failed: string, candidates: Candidates, health: ProfileHealth): Alternative {
  const { name } = chooseProfile(candidates, health);
  if (health.hasRefused(name)) return "none";
  return name !== failed && !health.isCooling(name) ? "now" : "later";
}

/** The codes of errors that a profile is to blame for. */
const PROFILE_FAILURES = new Set<ErrorCode>(["model_failed", "model_unconfigured", "script_invalid"]);

/** Records a failure and returns what the turn can do next. Undefined: no profile is to blame. */
export function noteFailure(
  error: unknown,
  {
    turn,
    profile,
    candidates,
  }: { readonly turn: TurnId; readonly profile: Profile; readonly candidates: Candidates },
  coolDowns: CoolDowns,
): Alternative | undefined {
  if (!(error instanceof CortexError) || !PROFILE_FAILURES.has(error.code)) return undefined;
  if (error.transient) coolDowns.failed(profile.name, error.retryAfterMs, error.message);
  else coolDowns.refused(profile.name, turn);
  return alternativeTo(profile.name, candidates, healthFor(turn, coolDowns));
}

/** Why a turn does not use the profile it asked for. Undefined: it does. */
export function whyFallback(
  profile: Profile,
  candidates: Candidates,
  coolDowns: CoolDowns,
): string | undefined {
  const skipped = candidates.slice(0, candidates.indexOf(profile)).map(({ name }) => {
    const cooling = coolDowns.get(name);
    return cooling === undefined ? `${name} rejected the turn` : coolDownReason(cooling);
  });
  return skipped.length === 0 ? undefined : skipped.join("; ");
}

function coolDownReason({ profile, untilMs, failures, error }: CoolDown): string {
  const until = new Date(untilMs).toISOString();
  const times = count(failures, "failure", "failures in a row");
  return `${profile} is cooling down until ${until} after ${times} (${error})`;
}

export function healthFor(turn: TurnId, coolDowns: CoolDowns): ProfileHealth {
  return {
    isCooling: (profile) => coolDowns.isCooling(profile),
    hasRefused: (profile) => coolDowns.hasRefused(profile, turn),
  };
}

export const FIRST_COOL_DOWN_MS = 10_000;
/** A provider that asks for a longer pause is tried again after this one. */
export const MAX_COOL_DOWN_MS = 600_000;
/** Turns whose refusals are remembered. A turn that is forgotten asks once more. */
export const MAX_TURNS_REMEMBERED = 1_000;

/** The error that is kept with a cool-down. */
const MAX_ERROR_LENGTH = 200;

/** A profile that is paused. */
export interface CoolDown {
  readonly profile: string;
  /** In a row. */
  readonly failures: number;
  readonly untilMs: number;
  /** The last failure. */
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

  /** Undefined: it is not paused. */
  get(profile: string): CoolDown | undefined {
    const cooling = this.#cooling.get(profile);
    return cooling !== undefined && this.#clock() < cooling.untilMs ? cooling : undefined;
  }

  /** All paused profiles, by name. */
  list(): CoolDown[] {
    const cooling = [...this.#cooling.keys()].flatMap((profile) => this.get(profile) ?? []);
    return cooling.toSorted((a, b) => (a.profile < b.profile ? -1 : 1));
  }

  /** Pauses a profile that may recover: longer after each failure in a row. */
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

  /** Whether a profile has refused this turn for good. */
  hasRefused(profile: string, turn: TurnId): boolean {
    return this.#refused.get(turn)?.has(profile) ?? false;
  }

  /** The fault may be the turn's, so other turns can still use the profile. */
  refused(profile: string, turn: TurnId): void {
    const profiles = this.#refused.get(turn) ?? new Set();
    this.#refused.set(turn, profiles.add(profile));
    const [oldest] = this.#refused.keys();
    if (oldest !== undefined && this.#refused.size > MAX_TURNS_REMEMBERED) this.#refused.delete(oldest);
  }

  /** The turn is over. */
  forget(turn: TurnId): void {
    this.#refused.delete(turn);
  }
}
