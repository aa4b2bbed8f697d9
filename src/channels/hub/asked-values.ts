/** The values that a channel needs of a person: where each goes, and what it is now. */
import { pathOfAccount } from "../../config/channel-accounts.ts";
import type { EntryChange } from "../../config/change-entries.ts";
import type { VariableChange } from "../../config/env-file.ts";
import { DEFAULT_ACCOUNT } from "../../model/ids.ts";
import type { AskedSetting, ChannelModule } from "../channel.ts";

export interface AskedValue {
  /** As in the configuration: `tokenEnv`, `imap.host`. */
  readonly setting: string;
  readonly example: string;
  readonly isOptional: boolean;
  /** Of a secret: the variable that holds it. */
  readonly variable: string | undefined;
  /** Undefined: it is not set. */
  readonly current: { readonly value: string; readonly from: Source } | undefined;
}

type Source = "the environment" | "config/.env" | "cortex.json";

/** An account as the files have it now. */
export interface ConfiguredAccount {
  readonly channel: string;
  readonly account: string;
  /** What `cortex.json` says of it. Undefined: nothing. */
  readonly entry: Readonly<Record<string, unknown>> | undefined;
  /** The variables of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Those of `config/.env`. */
  readonly fileVariables: ReadonlyMap<string, string>;
}

export function askedValues(
  module: Pick<ChannelModule, "setup">,
  configured: ConfiguredAccount,
): AskedValue[] {
  return module.setup.flatMap(({ asks }) => (asks === undefined ? [] : [askedValue(asks, configured)]));
}

function askedValue(asked: AskedSetting, configured: ConfiguredAccount): AskedValue {
  const { setting, secret, example, optional: isOptional = false } = asked;
  const set = settingAt(configured.entry, setting);
  const base = { setting, example, isOptional };
  if (!secret)
    return {
      ...base,
      variable: undefined,
      current: set === undefined ? undefined : { value: textOf(set), from: "cortex.json" },
    };
  const variable = typeof set === "string" ? set : usualVariable(asked, configured);
  return { ...base, variable, current: valueOf(variable, configured) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `TELEGRAM_BOT_TOKEN`; of another account `TELEGRAM_BOT_TOKEN_WORK`. */
function usualVariable(
  { setting, variable }: AskedSetting,
  { channel, account }: Pick<ConfiguredAccount, "channel" | "account">,
): string {
  const usual = variable ?? `${channel}_${inSnakeCase(setting.replace(/Env$/, ""))}`;
  const name = account === DEFAULT_ACCOUNT ? usual : `${usual}_${account}`;
  return name.toUpperCase().replaceAll(/[^A-Z0-9_]/g, "_");
}

function inSnakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_");
}

/** An empty variable counts as not set, but it hides the one in the file. */
function valueOf(name: string, { environment, fileVariables }: ConfiguredAccount): AskedValue["current"] {
  const own = environment[name];
  const value = own ?? fileVariables.get(name);
  if (value === undefined || value === "") return undefined;
  return { value, from: own === undefined ? "config/.env" : "the environment" };
}

/** New values by setting. Of a secret: of its variable. */
export type NewValues = ReadonlyMap<string, string>;

export interface AccountChange {
  readonly variables: readonly VariableChange[];
  readonly entries: readonly EntryChange[];
  /** The settings of the account as they will be. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** A variable as it will be. */
  readonly variable: (name: string) => string | undefined;
}

/** What the files have to become for these values. */
export function changeFor(
  module: Pick<ChannelModule, "settings">,
  {
    values,
    asked,
    configured,
  }: {
    readonly values: NewValues;
    readonly asked: readonly AskedValue[];
    readonly configured: ConfiguredAccount;
  },
): AccountChange {
  const { entry, environment, fileVariables } = configured;
  const { accounts: _, ...own } = entry ?? {};
  let settings: Record<string, unknown> = own;
  for (const { setting, variable, current } of asked) {
    if (variable === undefined || (current === undefined && !values.has(setting))) continue;
    settings = withSetting(settings, setting, variable);
  }
  const secrets = new Map(
    asked.flatMap(({ setting, variable }) => (variable === undefined ? [] : [[setting, variable]])),
  );
  for (const [setting, text] of values) {
    if (!secrets.has(setting))
      settings = withSetting(settings, setting, typed(module, settings, { setting, text }));
  }
  const variables = [...values].flatMap(([setting, after]): VariableChange[] => {
    const name = secrets.get(setting);
    return name === undefined ? [] : [{ name, before: fileVariables.get(name), after }];
  });
  const written = new Map(variables.map(({ name, after }) => [name, after]));
  return {
    variables: variables.filter(({ before, after }) => before !== after),
    entries: entryChanges(configured, settings, new Set([...secrets.keys(), ...values.keys()])),
    settings,
    variable: (name) => written.get(name) ?? environment[name] ?? fileVariables.get(name),
  };
}

function entryChanges(
  { entry, ...configured }: ConfiguredAccount,
  settings: Readonly<Record<string, unknown>>,
  changed: ReadonlySet<string>,
): EntryChange[] {
  const path = pathOfAccount(configured);
  const changes = [...changed].flatMap((setting): EntryChange[] => {
    const before = settingAt(entry, setting);
    const after = settingAt(settings, setting);
    return before === after ? [] : [{ path: [...path, ...setting.split(".")], before, after }];
  });
  if (changes.length > 0 || entry !== undefined) return changes;
  return [{ path, before: undefined, after: {} }];
}

/** Whether a text is meant as it is or as JSON, such as a number or a list, is what the channel takes. */
function typed(
  { settings: schema }: Pick<ChannelModule, "settings">,
  settings: Readonly<Record<string, unknown>>,
  { setting, text }: { readonly setting: string; readonly text: string },
): unknown {
  const fits = (value: unknown): boolean => {
    const { error } = schema.safeParse(withSetting(settings, setting, value));
    return error?.issues.every(({ path }) => !path.join(".").startsWith(setting)) ?? true;
  };
  if (fits(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return fits(value) ? value : text;
  } catch {
    return text; // the configuration says what is wrong with it
  }
}

function settingAt(entry: unknown, setting: string): unknown {
  return setting
    .split(".")
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], entry);
}

function withSetting(
  settings: Readonly<Record<string, unknown>>,
  setting: string,
  value: unknown,
): Record<string, unknown> {
  const [first = "", ...rest] = setting.split(".");
  if (rest.length === 0) return { ...settings, [first]: value };
  const inner = (settings[first] ?? {}) as Record<string, unknown>;
  return { ...settings, [first]: withSetting(inner, rest.join("."), value) };
}
