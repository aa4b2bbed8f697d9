/** Settings that name an unset variable. Cortex does not fall back to working unsigned or without a key. */
import type { Config } from "./config.ts";

export interface UnsetVariable {
  /** `channels.webhooks.shop.deliverTo.secretEnv`. */
  readonly setting: string;
  readonly variable: string;
  /** The consequence, as a clause. */
  readonly effect: string;
}

export function unsetVariables(
  { channels, webSearch }: Pick<Config, "channels" | "webSearch">,
  variable: (name: string) => string | undefined,
): UnsetVariable[] {
  const named: readonly (readonly [setting: string, variable: string | undefined, effect: string])[] = [
    ...Object.entries(channels.webhooks).flatMap(([name, { secretEnv, deliverTo }]) => {
      const at = `channels.webhooks.${name}`;
      return [
        [`${at}.secretEnv`, secretEnv, "requests to this webhook are rejected"],
        [`${at}.deliverTo.secretEnv`, deliverTo?.secretEnv, "deliveries to this webhook fail"],
      ] as const;
    }),
    ["channels.telegram.tokenEnv", channels.telegram?.tokenEnv, "Telegram stays disconnected"],
    ["channels.discord.tokenEnv", channels.discord?.tokenEnv, "Discord stays disconnected"],
    ["webSearch.apiKeyEnv", webSearch?.apiKeyEnv, "WebSearch fails"],
  ];
  return named.flatMap(([setting, name, effect]) =>
    name === undefined || isSet(name, variable) ? [] : [{ setting, variable: name, effect }],
  );
}

/** An empty value counts as not set. */
export function isSet(name: string, variable: (name: string) => string | undefined): boolean {
  return (variable(name) ?? "") !== "";
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
