/** The accounts of the chat channels that the configuration names. */
import { DEFAULT_ACCOUNT } from "../model/ids.ts";
import { CHAT_CHANNELS, type ChatChannel } from "./channels-schema.ts";
import type { Config } from "./config.ts";

type ChatSettings = NonNullable<Config["channels"][ChatChannel]>;

/** Who may talk on an account, and who answers there. */
export type Conversation = Pick<
  ChatSettings,
  "enabled" | "agent" | "dmScope" | "groups" | "allow" | "draft" | "unknown"
>;

export interface ChatAccount {
  readonly channel: string;
  readonly account: string;
  /** With the fields of the platform. */
  readonly settings: Conversation & Readonly<Record<string, unknown>>;
}

export function chatAccounts({ channels }: Pick<Config, "channels">): ChatAccount[] {
  return CHAT_CHANNELS.flatMap((channel) => accountsOf(channel, channels[channel]));
}

function accountsOf(channel: ChatChannel, configured: ChatSettings | undefined): ChatAccount[] {
  if (configured === undefined) return [];
  const { accounts, ...settings } = configured;
  const all: ChatAccount[] = [];
  // Without credentials of its own, it only groups the others.
  const isGroup =
    Object.keys(accounts).length > 0 && !Object.keys(settings).some((field) => field.endsWith("Env"));
  if (!isGroup) all.push({ channel, account: DEFAULT_ACCOUNT, settings });
  for (const [account, own] of Object.entries(accounts)) all.push({ channel, account, settings: own });
  return all;
}

/** Undefined: the configuration says nothing about this account. */
export function conversationOn(
  config: Pick<Config, "channels">,
  { channel, account = DEFAULT_ACCOUNT }: { readonly channel: string; readonly account?: string | undefined },
): Conversation | undefined {
  return chatAccounts(config).find((each) => each.channel === channel && each.account === account)?.settings;
}
