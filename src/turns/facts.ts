import { assistantBody, type Message } from "../model/message.ts";
import { addUsage, NO_USAGE } from "../model/usage.ts";
import type { TurnFacts } from "../store/store.ts";

/** What is recorded of how a turn was made: the sum over all its model calls, also those before a crash. */
export function turnFacts(
  messages: readonly Message[],
  { role, profile }: { readonly role: TurnFacts["role"]; readonly profile: string },
): TurnFacts {
  const bodies = messages.filter(({ role: speaker }) => speaker === "assistant").map(assistantBody);
  const usage = bodies.reduce((sum, body) => addUsage(sum, body.usage ?? NO_USAGE), NO_USAGE);
  const costs = bodies.map(({ costUsd }) => costUsd ?? null);
  const last = bodies.findLast(({ provider }) => provider !== undefined && provider !== "cortex");
  return {
    role,
    profile,
    provider: last?.provider ?? "none",
    model: last?.model ?? "none",
    usage,
    costUsd: costs.includes(null) ? null : costs.reduce((sum: number, cost) => sum + cost!, 0),
  };
}
