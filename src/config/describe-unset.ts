/** A variable that a setting names and that is not set. Without the configuration's schema, which commands need not load. */
export interface UnsetVariable {
  /** `channels.webhooks.shop.deliverTo.secretEnv`. */
  readonly setting: string;
  readonly variable: string;
  /** The consequence, as a clause. */
  readonly effect: string;
}

export function describeUnset({ setting, variable, effect }: UnsetVariable): {
  readonly problem: string;
  readonly hint: string;
} {
  return {
    problem: `${setting}: ${variable} is not set, so ${effect}`,
    hint: `Set ${variable} in Cortex's environment or in config/.env.`,
  };
}
