/**
 * Discord, by its gateway and its REST API: version 10, JSON over the WebSocket of Node. Discord's own client would add 15 MB
 * and connect again by itself, and takes a dispatch as read before it is stored.
 */
import { channelSettings } from "../../config/channels-schema.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import {
  CHANNEL_API,
  type ChannelModule,
  type ChannelPorts,
  type Connection,
  deliveryRefused,
  type FileRef,
  type Finding,
} from "../channel.ts";
import { openDiscordApi } from "./api.ts";
import { attachmentsOf, type Message, type User } from "./inbound.ts";
import { RateLimits } from "./rate-limits.ts";
import { Receiver } from "./receive.ts";
import { discordFormat } from "./render.ts";
import { channelOf, contentOf, messagePath, Outgoing } from "./send.ts";
import { PERMISSIONS, SETUP } from "./setup.ts";

type Settings = ReturnType<typeof channelSettings.discord.parse>;

/** Discord wants a heartbeat about every 41 seconds. */
const PROOF_MS = 90_000;
const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Where Discord keeps files. */
const FILE_HOSTS: ReadonlySet<string> = new Set(["cdn.discordapp.com", "media.discordapp.net"]);

export const discord: ChannelModule<Settings> = {
  api: CHANNEL_API,
  name: "discord",
  settings: channelSettings.discord,
  can: {
    maxLength: 2_000,
    edit: true,
    react: true,
    commands: true,
    threads: "thread",
    startThread: true,
    buttons: 25,
    polls: true,
    embeds: true,
    voice: true,
    attach: { maxBytes: MAX_FILE_BYTES },
    typingMs: 10_000,
    draft: "edit",
    ack: "after-commit",
    proofMs: PROOF_MS,
    find: true,
    onUncertain: "leave",
  },
  format: discordFormat,
  setup: SETUP,
  probe: (settings, ports) => probe(settings, ports),
  open: openConnection,
};

function apiOf({ tokenEnv, apiUrl }: Settings, { secret, fetch, clock }: ChannelPorts) {
  const token = secret(tokenEnv ?? "DISCORD_BOT_TOKEN");
  const pace = new RateLimits(clock);
  return { token, pace, api: openDiscordApi({ apiUrl, token, fetch, pace }) };
}

function openConnection(settings: Settings, ports: ChannelPorts): Connection {
  const { token, pace, api } = apiOf(settings, ports);
  const receiver = new Receiver({ ...ports, api, token, gatewayUrl: settings.gatewayUrl });
  const outgoing = new Outgoing({ ...ports, api });
  return {
    receive: (sink, signal) => receiver.receive(sink, signal),
    backfill: (sink, places, signal) => receiver.backfill(sink, places, signal),
    send: (message, signal) => outgoing.send(message, signal),
    find: (message, signal) => outgoing.find(message, signal),
    async edit(at, wire, signal) {
      await api(`PATCH ${messagePath(channelOf(at), at.messageId)}`, signal, contentOf({ content: wire }));
    },
    async remove(at, signal) {
      await api(`DELETE ${messagePath(channelOf(at), at.messageId)}`, signal).catch((error: unknown) => {
        if (!(error instanceof Error && error.message.includes(UNKNOWN_MESSAGE))) throw error;
      });
    },
    async react(at, emoji, signal) {
      const path = `${messagePath(channelOf(at), at.messageId)}/reactions/${encodeURIComponent(emoji)}/@me`;
      await api(`PUT ${path}`, signal);
    },
    async typing(to, signal) {
      await api(`POST /channels/${channelOf(to)}/typing`, signal);
    },
    async menu(commands, signal) {
      const { id } = await api<{ id: string }>("GET /applications/@me", signal);
      const all = commands.map(({ word, about }) => ({
        name: word,
        description: about,
        options: [ARGUMENTS],
      }));
      await api(`PUT /applications/${id}/commands`, signal, all);
    },
    download: (file, signal) => download(file, signal),
    paceMs: (to) => pace.take(channelOf(to)),
    [Symbol.asyncDispose]: async () => {},
  };

  /** The address of a file ends after a day: then its message gives another one. */
  async function download({ id }: FileRef, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const [url = "", message = ""] = id.split("#");
    const { body } = await get(url, signal).catch(async (error: unknown) => {
      const [channel = "", at = ""] = message.split("/");
      const { pathname } = new URL(url);
      const fresh = await api<Message>(`GET ${messagePath(channel, at)}`, signal);
      const found = attachmentsOf(fresh).find((each) => new URL(each.url).pathname === pathname);
      if (found === undefined || found.url === url) throw error;
      return get(found.url, signal);
    });
    return body!;
  }

  async function get(url: string, signal: AbortSignal): Promise<Response> {
    const { protocol, hostname, host } = new URL(url);
    const isDiscords = protocol === "https:" && FILE_HOSTS.has(hostname);
    if (!isDiscords && host !== new URL(settings.apiUrl).host)
      throw deliveryRefused(`The file is at ${host}, which is not Discord's`, { hint: "It is not loaded." });
    const response = await ports.fetch(url, { signal, redirect: "error" });
    if (response.ok && response.body !== null) return response;
    throw new Error(`Discord answered ${response.status} for the file`);
  }
}

/** The code of an answer. */
const UNKNOWN_MESSAGE = "(10008)";
/** What is given to a command. */
const ARGUMENTS = { type: 3, name: "text", description: "What belongs to the command", required: false };
/** https://docs.discord.com/developers/resources/application#application-object-application-flags */
const MESSAGE_CONTENT = (1 << 18) | (1 << 19);

async function probe(settings: Settings, ports: ChannelPorts): Promise<readonly Finding[]> {
  const { api } = apiOf(settings, ports);
  const signal = AbortSignal.timeout(MINUTE_MS);
  const me = await api<User>("GET /users/@me", signal);
  const { id, flags = 0 } = await api<{ id: string; flags?: number }>("GET /applications/@me", signal);
  const guilds = await api<readonly { readonly name: string }[]>("GET /users/@me/guilds", signal);
  const intent = { name: "message content intent" };
  const servers = { name: "servers" };
  return [
    { name: "token", state: "ok", message: `It is @${me.username}.` },
    (flags & MESSAGE_CONTENT) !== 0
      ? { ...intent, state: "ok", message: "On." }
      : {
          ...intent,
          state: "fail",
          message: "Off: Discord refuses the connection.",
          hint: "Discord Developer Portal → Bot → Privileged Gateway Intents → Message Content Intent.",
        },
    guilds.length > 0
      ? { ...servers, state: "ok", message: `In ${guilds.map(({ name }) => name).join(", ")}.` }
      : {
          ...servers,
          state: "warn",
          message: "In none: people can neither mention it nor write to it.",
          hint: `Invite it: https://discord.com/oauth2/authorize?client_id=${id}&scope=bot+applications.commands&permissions=${PERMISSIONS}`,
        },
  ];
}
