/** What a persona may spend in a day, judged before every call of a model. */
import type { PersonaId } from "../model/ids.ts";
import type { Permissions } from "../model/permissions.ts";
import type { Profile } from "../model/profile.ts";

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
