/** What a failure of the model means for its profile and for the turn. */
import { count } from "../model/count.ts";
import { CortexError, type ErrorCode } from "../model/errors.ts";
import type { TurnId } from "../model/ids.ts";
import type { Profile } from "../model/profile.ts";
import { type Alternative, alternativeTo, type ProfileHealth } from "./choose-profile.ts";
import type { CoolDown, CoolDowns } from "./cool-downs.ts";

/** What agents reject with where it is the profile that did not work. */
const PROFILE_FAILURES = new Set<ErrorCode>(["model_failed", "model_unconfigured", "script_invalid"]);

/** Notes a failure, and says what is left to the turn. Undefined: no model is to blame. */
export function noteFailure(
  error: unknown,
  {
    turn,
    profile,
    candidates,
  }: { readonly turn: TurnId; readonly profile: Profile; readonly candidates: readonly Profile[] },
  coolDowns: CoolDowns,
): Alternative | undefined {
  if (!(error instanceof CortexError) || !PROFILE_FAILURES.has(error.code)) return undefined;
  if (error.transient) coolDowns.failed(profile.name, error.retryAfterMs, error.message);
  else coolDowns.refused(profile.name, turn);
  return alternativeTo(profile.name, candidates, healthFor(turn, coolDowns));
}

/** Why a turn does not have the profile that was wished for. Undefined: it has. */
export function whyFallback(
  profile: Profile,
  candidates: readonly Profile[],
  coolDowns: CoolDowns,
): string | undefined {
  const passedOver = candidates.slice(0, candidates.indexOf(profile)).map(({ name }) => {
    const cooling = coolDowns.get(name);
    if (cooling === undefined) return `${name} has refused the turn`;
    return coolDownReason(cooling);
  });
  return passedOver.length === 0 ? undefined : passedOver.join("; ");
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
