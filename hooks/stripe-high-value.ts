/**
 * @name Large payments
 * @description Tells the agent about payments over 100.00 that Stripe reports
 * @mode persistent
 * @starts disabled
 */
import type { Filter, HookContext, HookResult } from "cortexd/hooks";

/** In the smallest unit of the currency, as Stripe counts. */
const MORE_THAN = 10_000;

/**
 * The webhook is the one called "stripe" in cortex.json:
 * "channels": { "webhooks": { "stripe": { "scheme": "stripe", "secretEnv": "STRIPE_WEBHOOK_SECRET" } } }
 */
export const filter: Filter = {
  channels: ["webhook"],
  senders: ["stripe"],
  types: ["payment_intent.succeeded", "charge.succeeded", "checkout.session.completed"],
};

interface Payment {
  readonly id?: string;
  readonly amount?: number;
  readonly amount_total?: number;
  readonly currency?: string;
}

export default async function ({ event }: HookContext): Promise<HookResult> {
  const { id, amount_total, amount = amount_total, currency }: Payment = event.payload?.data?.object ?? {};
  if (amount === undefined || amount <= MORE_THAN) return { fire: false };
  return {
    fire: true,
    routing: { session: "agent:main:webhook:stripe" },
    context: {
      prompt: "A large payment has come in. Note it, and tell the owner if it is unusual.",
      extracted: { id, amount, currency },
    },
  };
}
