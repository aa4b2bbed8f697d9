import type { ChannelModule } from "../channel.ts";

/**
 * View channels, send messages, also in threads, create public threads, embed links, attach files, read the history, add
 * reactions, send voice messages, and polls.
 */
export const PERMISSIONS = [10, 11, 38, 35, 14, 15, 16, 6, 46, 49]
  .reduce((all, bit) => all | (1n << BigInt(bit)), 0n)
  .toString();

const PORTAL = "https://discord.com/developers/applications";

export const SETUP: ChannelModule["setup"] = [
  {
    title: "Create an application",
    text: "Choose New Application, and give it the name that people will mention.",
    url: PORTAL,
  },
  {
    title: "Copy the bot's token",
    text: "Bot → Reset Token → Copy. Discord shows it once.",
    url: PORTAL,
    asks: { setting: "tokenEnv", secret: true, example: "MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.a-long-secret" },
  },
  {
    title: "Switch on the Message Content intent",
    text: "Bot → Privileged Gateway Intents → Message Content Intent. Without it, Discord refuses the connection.",
    url: PORTAL,
  },
  {
    title: "Invite the bot to your server",
    text: "Open the link with the Application ID of General Information in the place of APPLICATION_ID, and choose a server.",
    url: `https://discord.com/oauth2/authorize?client_id=APPLICATION_ID&scope=bot+applications.commands&permissions=${PERMISSIONS}`,
  },
];
