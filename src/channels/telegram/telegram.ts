/**
 * Telegram, by its Bot API: long polling in, or a webhook (`webhook.ts`), and one request a message out.
 *
 * Telegram forgets updates once they are asked for with a higher offset, so the offset is stored in the commit of their
 * events, and used only after it. After a week without updates their ids begin anew, anywhere: an offset of that age is not
 * used, and Telegram sends what it still has.
 */

import { channelSettings } from "../../config/channels-schema.ts";
import { DAY_MS } from "../../model/durations.ts";
import type { Json } from "../../model/json.ts";
import {
  type Address,
  CHANNEL_API,
  type ChannelModule,
  type ChannelPorts,
  type Connection,
  deliveryRefused,
  type OutgoingMessage,
  type PlatformRequest,
  type Receipt,
  type Sink,
} from "../channel.ts";
import { Pace } from "../pace.ts";
import { openTelegramApi, type TelegramApi } from "./api.ts";
import { telegramFormat } from "./render.ts";
import { probe, setup, TOKEN_VARIABLE } from "./setup.ts";
import { type Me, toInbound, type Update, UPDATE_KINDS } from "./updates.ts";
import { secretOf, takeUpdate, watchWebhook } from "./webhook.ts";

/** How long Telegram holds a poll that has nothing to say. Its limit is 50. */
const POLL_SECONDS = 50;
const POLL_TIMEOUT_MS = (POLL_SECONDS + 15) * 1_000;
/** Update ids begin anew after a week of silence. */
const OFFSET_AGE_MS = 6 * DAY_MS;
const MAX_UPDATES = 100;
const GET_ME_MS = 15_000;
/** Telegram's own advice: a message a second to a chat, twenty a minute to a group, thirty a second to all. */
const RATES = { placeMs: (chat: string) => (chat.startsWith("-") ? 3_000 : 1_000), allMs: 34 };

type Settings = ReturnType<typeof channelSettings.telegram.parse>;

interface Cursor {
  readonly offset: number;
  readonly atMs: number;
  /** Whose updates they were: another bot counts its own. Absent in cursors of older versions. */
  readonly bot?: number;
}

export const telegram: ChannelModule<Settings> = {
  api: CHANNEL_API,
  name: "telegram",
  settings: channelSettings.telegram,
  can: {
    maxLength: 4_096,
    edit: true,
    react: true,
    commands: true,
    threads: "topic",
    startThread: false,
    buttons: 8,
    polls: false,
    embeds: false,
    voice: false,
    typingMs: 5_000,
    ack: "after-commit",
    proofMs: POLL_TIMEOUT_MS + 25_000,
    find: false,
    onUncertain: "repeat-once",
  },
  format: telegramFormat,
  setup,
  probe: async (settings, ports) => probe({ api: apiOf(settings, ports), settings, ports }),
  open: openConnection,
};

function apiOf(settings: Settings, ports: ChannelPorts): TelegramApi {
  return openTelegramApi({ baseUrl: settings.baseUrl, token: tokenOf(settings, ports), fetch: ports.fetch });
}

function tokenOf({ tokenEnv }: Settings, { secret }: ChannelPorts): string {
  return secret(tokenEnv ?? TOKEN_VARIABLE);
}

function openConnection(settings: Settings, ports: ChannelPorts): Connection {
  const { clock } = ports;
  const api = apiOf(settings, ports);
  const pace = new Pace(RATES, clock);
  const isPolling = settings.mode === "poll";
  const webhook = { api, clock, secret: secretOf(tokenOf(settings, ports)), url: ports.webhookUrl };
  return {
    receive: isPolling
      ? (sink, signal) => receive(sink, signal, { api, clock })
      : (sink, signal) => watchWebhook(sink, signal, webhook),
    ...(isPolling ? {} : { handle: receiver(webhook) }),
    send: (message, signal) => send(message, signal, api),
    edit: ({ place, messageId }, wire, signal) =>
      editText(api, { ...readWire(wire), chat_id: place, message_id: Number(messageId) }, signal),
    async react({ place, messageId }, emoji, signal) {
      const params = { chat_id: place, message_id: Number(messageId), reaction: [{ type: "emoji", emoji }] };
      await api.call("setMessageReaction", params, { signal });
    },
    async menu(commands, signal) {
      const list = commands.map(({ word, about }) => ({ command: word, description: about }));
      await api.call("setMyCommands", { commands: list }, { signal });
    },
    async typing(to, signal) {
      await api.call("sendChatAction", { ...chatOf(to), action: "typing" }, { signal });
    },
    async download({ id }, signal) {
      const { file_path: path } = await api.call<{ file_path: string }>(
        "getFile",
        { file_id: id },
        { signal },
      );
      return api.download(path, signal);
    },
    paceMs: (to) => pace.take(to),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function receive(
  sink: Sink,
  signal: AbortSignal,
  { api, clock }: { readonly api: TelegramApi; readonly clock: () => number },
): Promise<void> {
  const me = await api.call<Me>("getMe", {}, { signal });
  const { url } = await api.call<{ url: string }>("getWebhookInfo", {}, { signal });
  if (url !== "") await api.call("deleteWebhook", { drop_pending_updates: false }, { signal });
  sink.proof();
  let cursor = readCursor(await sink.cursor(), me);
  while (!signal.aborted) {
    const isFresh = cursor !== undefined && clock() - cursor.atMs < OFFSET_AGE_MS;
    const params = {
      ...(isFresh ? { offset: cursor!.offset } : {}),
      limit: MAX_UPDATES,
      timeout: POLL_SECONDS,
      allowed_updates: UPDATE_KINDS,
    };
    const updates = await api.call<readonly Update[]>("getUpdates", params, {
      signal,
      timeoutMs: POLL_TIMEOUT_MS,
    });
    sink.proof();
    const last = updates.at(-1);
    if (last === undefined) continue;
    const next: Cursor = { offset: last.update_id + 1, atMs: clock(), bot: me.id };
    await sink.commit(
      updates.flatMap((update) => toInbound(update, me) ?? []),
      { ...next },
    );
    cursor = next;
    for (const { callback_query: button } of updates)
      if (button !== undefined) await acknowledge(button.id, api, signal);
  }
}

/** Takes the updates that Telegram sends. The cursor goes on, for the day when they are asked for again. */
function receiver({
  api,
  clock,
  secret,
}: {
  readonly api: TelegramApi;
  readonly clock: () => number;
  readonly secret: string;
}): NonNullable<Connection["handle"]> {
  let me: Promise<Me> | undefined;
  const whoAmI = (): Promise<Me> =>
    (me ??= api.call<Me>("getMe", {}, { signal: AbortSignal.timeout(GET_ME_MS) }).catch((error: unknown) => {
      me = undefined;
      throw error;
    }));
  return (request: PlatformRequest, sink: Sink) =>
    takeUpdate(request, secret, async (given) => {
      const update = given as Update;
      const self = await whoAmI();
      const inbound = toInbound(update, self);
      await sink.commit(inbound === undefined ? [] : [inbound], {
        offset: update.update_id + 1,
        atMs: clock(),
        bot: self.id,
      });
      const { callback_query: button } = update;
      if (button !== undefined) void acknowledge(button.id, api, AbortSignal.timeout(GET_ME_MS));
    });
}

/** Stops the spinner of a pressed button. Too late is no harm. */
async function acknowledge(id: string, api: TelegramApi, signal: AbortSignal): Promise<void> {
  await api.call("answerCallbackQuery", { callback_query_id: id }, { signal }).catch(() => {});
}

/** Undefined: there is none of this bot. */
function readCursor(stored: Json | undefined, me: Me): Cursor | undefined {
  const cursor = stored as Cursor | undefined;
  return cursor?.bot === undefined || cursor.bot === me.id ? cursor : undefined;
}

async function send(message: OutgoingMessage, signal: AbortSignal, api: TelegramApi): Promise<Receipt> {
  const { address, replyTo, content, buttons = [], edits } = message;
  const keyboard = buttons.map(({ label, data }) => ({ text: label, callback_data: data }));
  const text = {
    ...readWire(content),
    ...(keyboard.length > 0 ? { reply_markup: { inline_keyboard: [keyboard] } } : {}),
  };
  if (edits !== undefined) {
    await editText(api, { ...text, chat_id: address.place, message_id: Number(edits) }, signal);
    return { platformId: edits };
  }
  const reply =
    replyTo === undefined
      ? {}
      : { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true } };
  const request = { ...chatOf(address), ...text, ...reply };
  const sent = await api.call<{ message_id: number }>("sendMessage", request, { signal });
  return { platformId: String(sent.message_id) };
}

/** Text and entities, as `telegramFormat` made them. */
function readWire(wire: string): { readonly text: string; readonly entities: readonly object[] } {
  return JSON.parse(wire) as ReturnType<typeof readWire>;
}

/** "Not modified" means that the text is there already: an edit may be repeated. */
async function editText(api: TelegramApi, params: object, signal: AbortSignal): Promise<void> {
  try {
    await api.call("editMessageText", params, { signal });
  } catch (error) {
    if (!(error instanceof Error && error.message.includes("message is not modified"))) throw error;
  }
}

function chatOf({ place, topic }: Address): { chat_id: string; message_thread_id?: number } {
  if (!/^-?\d{1,16}$|^@\w{4,32}$/.test(place))
    throw deliveryRefused(`Invalid Telegram chat ${JSON.stringify(place)}`, {
      hint: "Use the id of a chat, as `cortex events` shows it, or @name of a public channel.",
    });
  return { chat_id: place, ...(topic === undefined ? {} : { message_thread_id: Number(topic) }) };
}
