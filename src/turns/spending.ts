/**
 * What a persona may spend in a day, and how often models may be asked, whatever that costs. Judged before every
 * call of a model.
 */
import { count } from "../model/count.ts";
import type { PersonaId } from "../model/ids.ts";
import type { Permissions } from "../model/permissions.ts";
import type { Profile } from "../model/profile.ts";
import type { ModelUse } from "../store/store.ts";

interface SpendingParts {
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

interface UsageLimits {
  readonly callsPerDay: number;
  readonly tokensPerDay: number;
  readonly personaCallsPerDay: number;
  readonly personaTokensPerDay: number;
}

/** A limit that has been reached. */
export interface UsageReached {
  /** Who has done how much, as a sentence without its end. */
  readonly what: string;
  readonly setting: keyof UsageLimits;
  readonly limit: number;
}

/** What is over, in words that name the setting; undefined: models may be asked. Without a persona, of all together. */
export function usageReached(
  used: readonly ModelUse[],
  limits: UsageLimits,
  persona?: PersonaId,
): string | undefined {
  const own = used.find((each) => each.persona === persona) ?? { persona, calls: 0, tokens: 0 };
  const reached = ownReached(own, limits) ?? allReached(used, limits);
  if (reached === undefined) return undefined;
  const { what, setting, limit } = reached;
  return `${what}. (Limit \`usage.${setting}\`: ${limit}, in cortex.json.)`;
}

/** All that is used up: by each persona, then by all together. A limit of 0 is an owner's will, and never used up. */
export function limitsReached(used: readonly ModelUse[], limits: UsageLimits): UsageReached[] {
  const reached = [...used.map((each) => ownReached(each, limits)), allReached(used, limits)];
  return reached.filter((each) => each !== undefined && each.limit > 0) as UsageReached[];
}

function ownReached({ persona, ...used }: ModelUse, limits: UsageLimits): UsageReached | undefined {
  if (persona === undefined) return undefined; // hooks have asked
  return over(`${persona} has`, used, limits, ["personaCallsPerDay", "personaTokensPerDay"]);
}

function allReached(used: readonly ModelUse[], limits: UsageLimits): UsageReached | undefined {
  const all = { calls: sum(used.map(({ calls }) => calls)), tokens: sum(used.map(({ tokens }) => tokens)) };
  return over("all agents and hooks together have", all, limits, ["callsPerDay", "tokensPerDay"]);
}

function over(
  who: string,
  { calls, tokens }: Pick<ModelUse, "calls" | "tokens">,
  limits: UsageLimits,
  [ofCalls, ofTokens]: readonly [keyof UsageLimits, keyof UsageLimits],
): UsageReached | undefined {
  if (calls >= limits[ofCalls])
    return {
      what: `${who} made ${count(calls, "model call")} today`,
      setting: ofCalls,
      limit: limits[ofCalls],
    };
  if (tokens >= limits[ofTokens])
    return {
      what: `${who} used ${count(tokens, "token")} today`,
      setting: ofTokens,
      limit: limits[ofTokens],
    };
  return undefined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
