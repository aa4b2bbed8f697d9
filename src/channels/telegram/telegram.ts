/**
 * Telegram, by its Bot API: long polling in, one request a message out.
 *
 * Telegram forgets updates once they are asked for with a higher offset, so the offset is stored in the commit of their
 * events, and used only after it. After a week without updates their ids begin anew, anywhere: an offset of that age is not
 * used, and Telegram sends what it still has.
 */

import { channelSettings } from "../../config/channels-schema.ts";
import { DAY_MS, MINUTE_MS } from "../../model/durations.ts";
import type { Json } from "../../model/json.ts";
import {
  type Address,
  CHANNEL_API,
  type ChannelModule,
  type ChannelPorts,
  type Connection,
  deliveryRefused,
  type Finding,
  type OutgoingMessage,
  type Receipt,
  type Sink,
} from "../channel.ts";
import { openTelegramApi, type TelegramApi } from "./api.ts";
import { Pace } from "./pace.ts";
import { telegramFormat } from "./render.ts";
import { type Me, toInbound, type Update, UPDATE_KINDS } from "./updates.ts";

/** How long Telegram holds a poll that has nothing to say. Its limit is 50. */
const POLL_SECONDS = 50;
const POLL_TIMEOUT_MS = (POLL_SECONDS + 15) * 1_000;
/** Update ids begin anew after a week of silence. */
const OFFSET_AGE_MS = 6 * DAY_MS;
const MAX_UPDATES = 100;

type Settings = ReturnType<typeof channelSettings.telegram.parse>;

interface Cursor {
  readonly offset: number;
  readonly atMs: number;
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
  setup: [],
  probe: async (settings, ports) => probe(apiOf(settings, ports)),
  open: (settings, ports) => openConnection(apiOf(settings, ports), ports),
};

function apiOf({ tokenEnv, baseUrl }: Settings, { secret, fetch }: ChannelPorts): TelegramApi {
  return openTelegramApi({ baseUrl, token: secret(tokenEnv ?? "TELEGRAM_BOT_TOKEN"), fetch });
}

function openConnection(api: TelegramApi, { clock }: ChannelPorts): Connection {
  const pace = new Pace(clock);
  return {
    receive: (sink, signal) => receive(sink, signal, { api, clock }),
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
  let cursor = readCursor(await sink.cursor());
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
    const next: Cursor = { offset: last.update_id + 1, atMs: clock() };
    await sink.commit(
      updates.flatMap((update) => toInbound(update, me) ?? []),
      { ...next },
    );
    cursor = next;
    for (const { callback_query: button } of updates)
      if (button !== undefined) await acknowledge(button.id, api, signal);
  }
}

/** Stops the spinner of a pressed button. Too late is no harm. */
async function acknowledge(id: string, api: TelegramApi, signal: AbortSignal): Promise<void> {
  await api.call("answerCallbackQuery", { callback_query_id: id }, { signal }).catch(() => {});
}

function readCursor(cursor: Json | undefined): Cursor | undefined {
  return cursor as Cursor | undefined;
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

async function probe(api: TelegramApi): Promise<readonly Finding[]> {
  const signal = AbortSignal.timeout(MINUTE_MS);
  const me = await api.call<Me>("getMe", {}, { signal });
  const { url } = await api.call<{ url: string }>("getWebhookInfo", {}, { signal });
  const findings: Finding[] = [{ name: "token", state: "ok", message: `It is @${me.username}.` }];
  findings.push(
    me.can_read_all_group_messages === true
      ? { name: "privacy mode", state: "ok", message: "Off: the bot sees all messages of its groups." }
      : {
          name: "privacy mode",
          state: "warn",
          message: "On: in groups, the bot only sees commands, mentions and replies.",
          hint: "That is enough for `groups: mention`. For `all`: @BotFather → /setprivacy → Disable, then add the bot to the group again.",
        },
  );
  if (url !== "")
    findings.push({
      name: "webhook",
      state: "warn",
      message: `Set to ${new URL(url).host}.`,
      hint: "Cortex removes it when it connects. If another program uses this bot, create one of its own for Cortex.",
    });
  return findings;
}
