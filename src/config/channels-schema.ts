/** Settings of the chat channels under `channels`, which have the same fields for who may talk, on each of them. */
import { z } from "zod";

import { DEFAULT_ACCOUNT } from "../model/ids.ts";
import { named, text, texts, variable } from "./schema-parts.ts";

/** How many senders and places a list may name. */
const MAX_ALLOWED = 10_000;

/** Of every account of every chat channel. */
export const conversation = {
  enabled: z.boolean().describe("Whether it connects.").default(true),
  agent: text("Agent that answers there. Default: main.").exactOptional(),
  dmScope: z
    .enum(["main", "per-peer", "per-channel-peer"])
    .describe("Session of direct messages there. Default: `dmScope` of the configuration.")
    .exactOptional(),
  groups: z
    .enum(["mention", "all", "off"])
    .describe("Which messages in groups are answered: those that address the agent, all, or none.")
    .default("mention"),
  allow: texts("Ids of the senders and places that are answered. Empty: all people you know.")
    .max(MAX_ALLOWED)
    .default([]),
  unknown: z
    .enum(["pair", "ignore"])
    .describe("What strangers get in a direct message: a pairing code, or nothing.")
    .default("pair"),
} as const;

const url = (description: string) =>
  z.url({ protocol: /^https?$/, error: "expected an http or https URL" }).describe(description);

/** What connects each channel to its platform. */
const PLATFORM_FIELDS = {
  telegram: {
    tokenEnv: variable("Variable with the bot's token from @BotFather.").exactOptional(),
    baseUrl: url("Bot API server.").default("https://api.telegram.org"),
  },
  discord: {
    tokenEnv: variable("Variable with the bot's token from the Discord Developer Portal.").exactOptional(),
    apiUrl: url("Discord's REST API, with its version.").default("https://discord.com/api/v10"),
    gatewayUrl: z
      .url({ protocol: /^wss?$/, error: "expected a ws or wss URL" })
      .describe("Discord's gateway. Default: what the REST API names.")
      .exactOptional(),
  },
} as const;

export const CHAT_CHANNELS = Object.keys(PLATFORM_FIELDS) as readonly (keyof typeof PLATFORM_FIELDS)[];
export type ChatChannel = keyof typeof PLATFORM_FIELDS;

function chatChannel<Fields extends z.ZodRawShape>(name: string, fields: Fields) {
  const account = z.strictObject({ ...conversation, ...fields });
  return account
    .extend({
      accounts: named(
        account,
        `Further accounts, by id; the settings beside it are the account "${DEFAULT_ACCOUNT}".`,
      ).default({}),
    })
    .describe(`The ${name} channel.`)
    .exactOptional();
}

/** The settings of one account, by channel. */
export const channelSettings = {
  telegram: z.object({ ...conversation, ...PLATFORM_FIELDS.telegram }),
  discord: z.object({ ...conversation, ...PLATFORM_FIELDS.discord }),
};

export const chatChannels = {
  telegram: chatChannel("Telegram", PLATFORM_FIELDS.telegram),
  discord: chatChannel("Discord", PLATFORM_FIELDS.discord),
};
