/**
 * Slack: events by Socket Mode, or by HTTP where a signing secret is given; one request a message out.
 *
 * A conversation is where it is said: what is said in a channel is answered in the channel, and what is said in a thread, which
 * is a topic, in the thread.
 */
import { setTimeout as pause } from "node:timers/promises";

import { channelSettings } from "../../config/channels-schema.ts";
import {
  CHANNEL_API,
  type ChannelModule,
  type ChannelPorts,
  type Connection,
  type Inbound,
  type PlatformReply,
  type PlatformRequest,
  type Sink,
} from "../channel.ts";
import { Pace } from "../pace.ts";
import { verifyWebhook } from "../verify-webhook.ts";
import { openSlackApi, type SlackApi } from "./api.ts";
import { openDirectory } from "./directory.ts";
import { emojiName } from "./emoji.ts";
import { type Me, type Reader, toInbound } from "./events.ts";
import { backfill } from "./history.ts";
import { slackFormat } from "./render.ts";
import { channelOf, find, readWire, send } from "./send.ts";
import { probe, SETUP } from "./setup.ts";
import { receiveBySocket, SOCKET_PROOF_MS } from "./socket.ts";

type Settings = ReturnType<typeof channelSettings.slack.parse>;

/** Slack's own advice: a message a second to a channel, several hundred a minute to all. */
const RATES = { placeMs: () => 1_000, allMs: 150 };
/** By HTTP, nothing comes on a quiet day: what proves then that Slack can be reached. */
const ASK_MS = SOCKET_PROOF_MS / 2;

export const slack: ChannelModule<Settings> = {
  api: CHANNEL_API,
  name: "slack",
  settings: channelSettings.slack,
  can: {
    maxLength: slackFormat.maxLength,
    edit: true,
    react: true,
    commands: false,
    threads: "thread",
    startThread: true,
    buttons: 25,
    polls: false,
    embeds: true,
    voice: false,
    attach: { maxBytes: 1_000_000_000 },
    ack: "after-commit",
    proofMs: SOCKET_PROOF_MS,
    find: true,
    onUncertain: "leave",
  },
  format: slackFormat,
  setup: SETUP,
  probe: async (settings, ports) => probe(apisOf(settings, ports)),
  open: openConnection,
};

/** `app` opens sockets; without it, events come by HTTP. */
function apisOf(
  { botTokenEnv, appTokenEnv, signingSecretEnv, apiUrl }: Settings,
  { secret, fetch }: ChannelPorts,
) {
  const openApi = (name: string): SlackApi => openSlackApi({ apiUrl, token: secret(name), fetch });
  const bot = openApi(botTokenEnv ?? "SLACK_BOT_TOKEN");
  if (appTokenEnv === undefined && signingSecretEnv !== undefined) return { bot, app: undefined };
  return { bot, app: openApi(appTokenEnv ?? "SLACK_APP_TOKEN") };
}

function openConnection(settings: Settings, ports: ChannelPorts): Connection {
  const { bot, app } = apisOf(settings, ports);
  const { clock, log, secret, readFile } = ports;
  const { signingSecretEnv } = settings;
  const pace = new Pace(RATES, clock);
  const names = openDirectory(bot);
  let asked: Promise<Me> | undefined;
  const who = async (signal: AbortSignal): Promise<Me> => {
    asked ??= bot.call<Me>("auth.test", {}, { signal });
    return asked.catch((error: unknown) => {
      asked = undefined;
      throw error;
    });
  };
  const readerOf = async (signal: AbortSignal): Promise<Reader> => ({ me: await who(signal), names });
  return {
    async receive(sink, signal) {
      const reader = await readerOf(signal);
      if (app === undefined) return keepAsking(bot, sink, signal);
      const { url } = await app.call<{ url: string }>("apps.connections.open", {}, { signal });
      await receiveBySocket(url, signal, { sink, log, read: (sent) => toInbound(sent, reader, clock()) });
    },
    ...(signingSecretEnv === undefined
      ? {}
      : {
          async handle(request: PlatformRequest, sink: Sink) {
            verifyWebhook("slack", request, { secret: secret(signingSecretEnv), nowMs: clock() });
            const reader = await readerOf(new AbortController().signal);
            return handle(request, sink, (sent) => toInbound(sent, reader, clock()));
          },
        }),
    backfill: async (sink, places, signal) =>
      backfill(sink, places, signal, { api: bot, reader: await readerOf(signal), log }),
    send: (message, signal) => send(message, signal, { api: bot, readFile }),
    find: async (message, signal) => find(message, signal, { api: bot, me: await who(signal), clock }),
    async edit(at, wire, signal) {
      const channel = await channelOf(at, bot, signal);
      await bot.call("chat.update", { channel, ts: at.messageId, ...readWire(wire) }, { signal });
    },
    async remove(at, signal) {
      const channel = await channelOf(at, bot, signal);
      await done(bot.call("chat.delete", { channel, ts: at.messageId }, { signal }), "message_not_found");
    },
    async react(at, emoji, signal) {
      const params = {
        channel: await channelOf(at, bot, signal),
        timestamp: at.messageId,
        name: emojiName(emoji),
      };
      await done(bot.call("reactions.add", params, { signal }), "already_reacted");
    },
    async download({ id }, signal) {
      const { file } = await bot.call<{ file: { url_private_download?: string; url_private: string } }>(
        "files.info",
        { file: id },
        { signal },
      );
      return bot.download(file.url_private_download ?? file.url_private, signal);
    },
    paceMs: (to) => pace.take(to),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Of requests that may be repeated: it was done before. */
async function done(request: Promise<unknown>, before: string): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!(error instanceof Error && error.message.endsWith(`: ${before}`))) throw error;
  }
}

async function keepAsking(api: SlackApi, sink: Sink, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    sink.proof();
    await pause(ASK_MS, undefined, { signal });
    await api.call("auth.test", {}, { signal });
  }
}

/** Answered once it is stored: Slack sends again what is not answered with 200. */
async function handle(
  { header, body }: PlatformRequest,
  sink: Sink,
  read: (sent: unknown) => Promise<readonly Inbound[]>,
): Promise<PlatformReply> {
  let sent: { readonly type?: string; readonly challenge?: string };
  try {
    const text = new TextDecoder().decode(body);
    const form = /^application\/x-www-form-urlencoded\b/.test(header("Content-Type") ?? "")
      ? Object.fromEntries(new URLSearchParams(text))
      : { payload: text };
    sent = form["payload"] === undefined ? form : (JSON.parse(form["payload"]) as typeof sent);
  } catch {
    return { status: 400, body: "Invalid JSON" };
  }
  if (sent?.type === "url_verification")
    return { status: 200, contentType: "text/plain", body: sent.challenge ?? "" };
  const events = await read(sent);
  if (events.length > 0) await sink.commit(events);
  return { status: 200 };
}
