import type { Profile } from "../model/profile.ts";

/** What is known of a profile at this moment, for this turn. */
export interface ProfileHealth {
  readonly isCooling: (profile: string) => boolean;
  readonly hasRefused: (profile: string) => boolean;
}

/**
 * The profile that a run uses: the wished one, or the first of its fallbacks that is well while it is not. Where
 * none is, the first that has not refused the turn is tried all the same.
 */
export function chooseProfile(candidates: readonly Profile[], health: ProfileHealth): Profile {
  const willing = candidates.filter(({ name }) => !health.hasRefused(name));
  return willing.find(({ name }) => !health.isCooling(name)) ?? willing[0] ?? candidates[0]!;
}

/**
 * A profile and all that it can fall back on, in the order in which they are tried: each one's own fallbacks come
 * right after it. The configuration has no circles, but it may change under a turn.
 */
export function fallbackChain(wished: Profile, profileOf: (name: string) => Profile): Profile[] {
  const chain: Profile[] = [];
  const add = (profile: Profile): void => {
    if (chain.some(({ name }) => name === profile.name)) return;
    chain.push(profile);
    for (const name of profile.fallback) add(profileOf(name));
  };
  add(wished);
  return chain;
}

/** What is left to a turn whose model has failed: another profile at once, one of them later, or none. */
export type Alternative = "now" | "later" | "none";

export function alternativeTo(
  failed: string,
  candidates: readonly Profile[],
  health: ProfileHealth,
): Alternative {
  const { name } = chooseProfile(candidates, health);
  if (health.hasRefused(name)) return "none";
  return name !== failed && !health.isCooling(name) ? "now" : "later";
}
