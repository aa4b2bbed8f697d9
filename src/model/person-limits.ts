/** What each person may use, and what they are told when it is used up. */
import { count } from "./count.ts";
import type { PersonLimits } from "./person.ts";

/** The policies of messages that were dropped because of a limit of their sender, and the limit. */
export const LIMIT_OF_POLICY = {
  "person-pending": "pending",
  "person-rate": "perMinute",
  "person-budget": "usdPerDay",
} as const satisfies Record<string, keyof PersonLimits>;

export type PersonPolicy = keyof typeof LIMIT_OF_POLICY;

export function isPersonPolicy(policy: string): policy is PersonPolicy {
  return Object.hasOwn(LIMIT_OF_POLICY, policy);
}

/** Told to the person, in the place of their message. */
export function overLimitNotice(policy: PersonPolicy, limits: Required<PersonLimits>): string {
  switch (policy) {
    case "person-pending":
      return `Not taken: ${count(limits.pending, "message")} of yours may wait at once. Please write again when some are answered.`;
    case "person-rate":
      return `Not taken: you may send ${count(limits.perMinute, "message")} a minute. Please write again in a minute.`;
    case "person-budget":
      return "Not taken: your budget for today is used up. Please write again tomorrow.";
  }
}
