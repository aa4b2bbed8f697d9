/**
 * What a persona may spend in a day, and how often models may be asked, whatever that costs. Judged before every
 * call of a model.
 */
import type { PersonaId } from "../model/ids.ts";
import type { Permissions } from "../model/permissions.ts";
import type { Profile } from "../model/profile.ts";
import type { ModelUse } from "../store/store.ts";

export interface SpendingParts {
  readonly spentUsd: (persona: PersonaId, sinceMs: number) => Promise<number>;
  /** When the day began, where the owner lives. */
  readonly dayStartMs: () => number;
}

/** The answer that ends a turn whose persona has spent enough; undefined: it may go on. */
export async function spendingReached(
  persona: PersonaId,
  { spendUsdPerDay }: Pick<Permissions, "spendUsdPerDay">,
  { backend }: Pick<Profile, "backend">,
  { spentUsd, dayStartMs }: SpendingParts,
): Promise<string | undefined> {
  if (backend === "offline") return undefined; // it costs nothing
  const spent = await spentUsd(persona, dayStartMs());
  if (spent < spendUsdPerDay) return undefined;
  return (
    `I stopped here: ${persona} has spent ${spent.toFixed(2)} USD today. ` +
    `(Limit \`spendUsdPerDay\`: ${spendUsdPerDay}, in the permissions of the persona.) Write again tomorrow, or raise it.`
  );
}

export interface UsageLimits {
  readonly callsPerDay: number;
  readonly tokensPerDay: number;
  readonly personaCallsPerDay: number;
  readonly personaTokensPerDay: number;
}

/** What is over, in words that name the setting; undefined: models may be asked. Without a persona, of all together. */
export function usageReached(
  used: readonly ModelUse[],
  limits: UsageLimits,
  persona?: PersonaId,
): string | undefined {
  const own = used.find((each) => persona !== undefined && each.persona === persona);
  const all = { calls: sum(used.map(({ calls }) => calls)), tokens: sum(used.map(({ tokens }) => tokens)) };
  const [who, together] = [persona ?? "", "all agents and hooks together"];
  return (
    (persona !== undefined
      ? (over(who, "calls", own?.calls ?? 0, limits, "personaCallsPerDay") ??
        over(who, "tokens", own?.tokens ?? 0, limits, "personaTokensPerDay"))
      : undefined) ??
    over(together, "calls", all.calls, limits, "callsPerDay") ??
    over(together, "tokens", all.tokens, limits, "tokensPerDay")
  );
}

function over(
  who: string,
  what: "calls" | "tokens",
  used: number,
  limits: UsageLimits,
  name: keyof UsageLimits,
): string | undefined {
  const limit = limits[name];
  if (used < limit) return undefined;
  const done = what === "calls" ? `made ${used} model calls` : `used ${used} tokens`;
  return `${who} ${who.includes(" ") ? "have" : "has"} ${done} today. (Limit \`usage.${name}\`: ${limit}, in cortex.json.)`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
