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
  CHANNEL_API,
  type ChannelModule,
  type ChannelPorts,
  type Connection,
  type PlatformRequest,
  type Sink,
} from "../channel.ts";
import { Pace } from "../pace.ts";
import { groupMoved, openTelegramApi, type TelegramApi } from "./api.ts";
import { telegramFormat } from "./render.ts";
import { chatOf, editText, MAX_BUTTONS, readWire, remove, send } from "./send.ts";
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
/** Of the Bot API on Telegram's own servers. */
const MAX_FILE_BYTES = 50 * 1024 * 1024;

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
    startThread: true,
    buttons: MAX_BUTTONS,
    polls: true,
    embeds: false,
    voice: true,
    attach: { maxBytes: MAX_FILE_BYTES },
    typingMs: 5_000,
    draft: "native",
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
  const { fetch, log } = ports;
  return openTelegramApi({ baseUrl: settings.baseUrl, token: tokenOf(settings, ports), fetch, log });
}

function tokenOf({ tokenEnv }: Settings, { secret }: ChannelPorts): string {
  return secret(tokenEnv ?? TOKEN_VARIABLE);
}

function openConnection(settings: Settings, ports: ChannelPorts): Connection {
  const { clock, log, readFile } = ports;
  const api = apiOf(settings, ports);
  const pace = new Pace(RATES, clock);
  const isPolling = settings.mode === "poll";
  const webhook = { api, clock, secret: secretOf(tokenOf(settings, ports)), url: ports.webhookUrl };
  return {
    receive: isPolling
      ? (sink, signal) => receive(sink, signal, { api, clock, log })
      : (sink, signal) => watchWebhook(sink, signal, webhook),
    ...(isPolling ? {} : { handle: receiver(webhook) }),
    send: (message, signal) => send(message, signal, { api, readFile }),
    edit: ({ place, messageId }, wire, signal) =>
      editText(api, { ...readWire(wire), chat_id: place, message_id: Number(messageId) }, signal),
    remove: (at, signal) => remove(api, at, signal),
    async draft(to, { id, wire }, signal) {
      const { chat_id: chat, ...topic } = chatOf(to);
      const draft = { chat_id: Number(chat), ...topic, draft_id: id, ...readWire(wire) };
      await api.call("sendMessageDraft", draft, { signal });
    },
    async menu(commands, signal) {
      const told = commands.map(({ word, about }) => ({ command: word, description: about }));
      await api.call("setMyCommands", { commands: told }, { signal });
    },
    async react({ place, messageId }, emoji, signal) {
      const params = { chat_id: place, message_id: Number(messageId), reaction: [{ type: "emoji", emoji }] };
      await api.call("setMessageReaction", params, { signal });
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
  { api, clock, log }: Pick<ChannelPorts, "clock" | "log"> & { readonly api: TelegramApi },
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
    for (const { message } of updates)
      if (message?.migrate_to_chat_id !== undefined)
        log(groupMoved(message.chat.id, message.migrate_to_chat_id));
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
