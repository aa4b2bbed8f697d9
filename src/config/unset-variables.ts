/** Settings that name an unset variable. Cortex does not fall back to working unsigned or without a key. */
import { type ChatAccount, chatAccounts, pathOfAccount } from "./channel-accounts.ts";
import type { Config } from "./config.ts";
import type { UnsetVariable } from "./describe-unset.ts";

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
    ...chatAccounts({ channels }).flatMap((account) => channelVariables(account)),
    ["webSearch.apiKeyEnv", webSearch?.apiKeyEnv, "WebSearch fails"],
  ];
  return named.flatMap(([setting, name, effect]) =>
    name === undefined || isSet(name, variable) ? [] : [{ setting, variable: name, effect }],
  );
}

function channelVariables(account: ChatAccount): (readonly [string, string, string])[] {
  if (!account.settings.enabled) return [];
  const path = pathOfAccount(account).join(".");
  return variablesOf(account).map(({ setting, variable }) => [
    `${path}.${setting}`,
    variable,
    `${account.channel} cannot connect`,
  ]);
}

/** The variables that the settings of an account name: wherever it wants a secret, it takes the name of a variable. */
export function variablesOf({ settings }: Pick<ChatAccount, "settings">): NamedVariable[] {
  return namedIn(settings);
}

interface NamedVariable {
  /** Within the account: `tokenEnv`, `oauth.clientSecretEnv`. */
  readonly setting: string;
  readonly variable: string;
}

function namedIn(value: object, prefix = ""): NamedVariable[] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    if (typeof inner === "string")
      return key.endsWith("Env") ? [{ setting: prefix + key, variable: inner }] : [];
    return typeof inner === "object" && inner !== null ? namedIn(inner, `${prefix}${key}.`) : [];
  });
}

/** An empty value counts as not set. */
export function isSet(name: string, variable: (name: string) => string | undefined): boolean {
  return (variable(name) ?? "") !== "";
}
