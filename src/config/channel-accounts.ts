/** The accounts of the chat channels that the configuration names. */
import { DEFAULT_ACCOUNT } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { type ChannelPlugin, channelPlugin, isPlugin, type PluginUse } from "./channel-plugins.ts";
import { CHAT_CHANNELS, type ChatChannel } from "./channels-schema.ts";
import type { Config } from "./config.ts";

type ChatSettings = NonNullable<Config["channels"][ChatChannel]>;

/** Who may talk on an account, and who answers there. */
export type Conversation = Pick<
  ChatSettings,
  "enabled" | "agent" | "dmScope" | "groups" | "allow" | "unknown"
>;

export interface ChatAccount {
  readonly channel: string;
  readonly account: string;
  /** With the fields of the platform. */
  readonly settings: Conversation & Readonly<Record<string, unknown>>;
  /** Undefined: it is built in. */
  readonly plugin?: PluginPin;
}

export interface PluginPin {
  readonly use: PluginUse;
  readonly sha256: string | undefined;
}

export function chatAccounts({ channels }: Pick<Config, "channels">): ChatAccount[] {
  const builtIn = CHAT_CHANNELS.flatMap((channel) => accountsOf(channel, channels[channel]));
  return [...builtIn, ...Object.entries(channelPlugins({ channels })).flatMap(pluginAccounts)];
}

/** The plugins by the name of their channel. */
export function channelPlugins({
  channels,
}: Pick<Config, "channels">): Readonly<Record<string, ChannelPlugin>> {
  const others = Object.entries(channels).filter(([name, entry]) => !BUILT_IN.has(name) && isPlugin(entry));
  return Object.fromEntries(others.map(([name, entry]) => [name, channelPlugin.parse(entry)]));
}

const BUILT_IN: ReadonlySet<string> = new Set([...CHAT_CHANNELS, "webhooks", "files", "paired"]);

function pluginAccounts([channel, configured]: readonly [string, ChannelPlugin]): ChatAccount[] {
  const { use, sha256 } = configured;
  return accountsOf(channel, configured, { use, sha256 });
}

function accountsOf(
  channel: string,
  configured: ChatSettings | ChannelPlugin | undefined,
  plugin?: PluginPin,
): ChatAccount[] {
  if (configured === undefined) return [];
  const { accounts, ...settings } = configured;
  const all: ChatAccount[] = [];
  // Without credentials of its own, it only groups the others.
  const isGroup =
    Object.keys(accounts).length > 0 && !Object.keys(settings).some((field) => field.endsWith("Env"));
  const by = present({ plugin });
  if (!isGroup) all.push({ channel, account: DEFAULT_ACCOUNT, settings, ...by });
  for (const [account, own] of Object.entries(accounts)) all.push({ channel, account, settings: own, ...by });
  return all;
}

/** Undefined: the configuration says nothing about this account. */
export function conversationOn(
  config: Pick<Config, "channels">,
  { channel, account = DEFAULT_ACCOUNT }: { readonly channel: string; readonly account?: string | undefined },
): Conversation | undefined {
  return chatAccounts(config).find((each) => each.channel === channel && each.account === account)?.settings;
}
