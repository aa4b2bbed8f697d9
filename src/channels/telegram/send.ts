/** What goes out to Telegram: each message, file, poll and topic is one request. */
import { CortexError } from "../../model/errors.ts";
import type { Button, OutgoingFile, Part } from "../../model/extras.ts";
import {
  type Address,
  type Connection,
  deliveryRefused,
  type OutgoingMessage,
  type Receipt,
} from "../channel.ts";
import type { TelegramApi } from "./api.ts";

/** What sending needs of a connection. */
export interface SendPorts {
  readonly api: TelegramApi;
  /** The content of a file, by its hash. */
  readonly readFile: (sha256: string) => Promise<Uint8Array>;
}

/** Telegram allows more, but nobody finds one among so many. */
export const MAX_BUTTONS = 24;
/** Of the labels in one row of buttons, which share its width. */
const MAX_ROW_LENGTH = 24;
const MAX_BUTTONS_IN_ROW = 4;
/** Larger images are sent as documents, by Telegram's rules. */
const MAX_PHOTO_BYTES = 10 * 1024 * 1024;
/** The topic of a forum that every message is in that names no other. Telegram refuses its id. */
const GENERAL_TOPIC = "1";

export async function send(
  message: OutgoingMessage,
  signal: AbortSignal,
  { api, readFile }: SendPorts,
): Promise<Receipt> {
  const { address, replyTo, content, part, buttons, edits } = message;
  const to = chatOf(address);
  const reply =
    replyTo === undefined
      ? {}
      : { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true } };
  if (part !== undefined) return sendPart(part, { ...to, ...reply }, signal, { api, readFile });
  const text = { ...readWire(content), ...keyboardOf(buttons) };
  if (edits !== undefined) {
    await editText(api, { ...text, chat_id: to.chat_id, message_id: Number(edits) }, signal);
    return { platformId: edits };
  }
  return receiptOf(await api.call<Sent>("sendMessage", { ...to, ...text, ...reply }, { signal }));
}

interface Sent {
  readonly message_id: number;
}

function receiptOf({ message_id: id }: Sent): Receipt {
  return { platformId: String(id) };
}

async function sendPart(
  part: Part,
  to: ReturnType<typeof chatOf>,
  signal: AbortSignal,
  { api, readFile }: SendPorts,
): Promise<Receipt> {
  switch (part.kind) {
    case "thread": {
      const params = { chat_id: to.chat_id, name: part.name };
      const topic = await api.call<{ message_thread_id: number }>("createForumTopic", params, { signal });
      return { platformId: String(topic.message_thread_id) };
    }
    case "poll": {
      const options = part.options.map((text) => ({ text }));
      return receiptOf(
        await api.call<Sent>("sendPoll", { ...to, question: part.question, options }, { signal }),
      );
    }
    case "file":
      return sendFile(part, to, signal, { api, readFile });
  }
}

type Way = readonly [method: string, field: string];
const DOCUMENT: Way = ["sendDocument", "document"];

async function sendFile(
  file: OutgoingFile,
  to: object,
  signal: AbortSignal,
  { api, readFile }: SendPorts,
): Promise<Receipt> {
  const content = await readFile(file.sha256);
  const upload = async (way: Way): Promise<Receipt> => {
    const [method, field] = way;
    return receiptOf(await api.call<Sent>(method, to, { signal, file: { ...file, field, content } }));
  };
  const way = wayOf(file);
  try {
    return await upload(way);
  } catch (error) {
    if (way === DOCUMENT || !isOfContent(error)) throw error;
    return upload(DOCUMENT);
  }
}

function wayOf({ contentType, bytes, voice = false }: OutgoingFile): Way {
  if (/^image\/(jpeg|png|webp)$/.test(contentType) && bytes <= MAX_PHOTO_BYTES) return ["sendPhoto", "photo"];
  if (/^audio\/(ogg|mpeg|mp4)$/.test(contentType) && voice) return ["sendVoice", "voice"];
  if (/^audio\/(mpeg|mp4)$/.test(contentType)) return ["sendAudio", "audio"];
  if (contentType === "video/mp4") return ["sendVideo", "video"];
  return DOCUMENT;
}

/** Telegram looks into pictures, and refuses some: too wide, too many pixels, damaged. */
function isOfContent(error: unknown): boolean {
  const isRefusal = error instanceof CortexError && error.code === "delivery_refused";
  return isRefusal && /PHOTO_|IMAGE_|VOICE_|wrong file/i.test(error.message);
}

function keyboardOf(buttons: readonly Button[] = []): object {
  if (buttons.length === 0) return {};
  const rows: Button[][] = [];
  let left = 0;
  for (const button of buttons) {
    const row = rows.at(-1);
    left -= button.label.length;
    if (row !== undefined && left >= 0 && row.length < MAX_BUTTONS_IN_ROW) row.push(button);
    else {
      rows.push([button]);
      left = MAX_ROW_LENGTH - button.label.length;
    }
  }
  const keyboard = rows.map((row) => row.map(({ label, data }) => ({ text: label, callback_data: data })));
  return { reply_markup: { inline_keyboard: keyboard } };
}

/** Text and entities, as `telegramFormat` made them. */
export function readWire(wire: string): { readonly text: string; readonly entities: readonly object[] } {
  return JSON.parse(wire) as ReturnType<typeof readWire>;
}

/** "Not modified" means that the text is there already: an edit may be repeated. */
export async function editText(api: TelegramApi, params: object, signal: AbortSignal): Promise<void> {
  await api.call("editMessageText", params, { signal }).catch(unless("message is not modified"));
}

/** A message that is gone already is no failure: a removal may be repeated. */
export async function remove(
  api: TelegramApi,
  at: Parameters<NonNullable<Connection["remove"]>>[0],
  signal: AbortSignal,
): Promise<void> {
  const params = { chat_id: chatOf(at).chat_id, message_id: Number(at.messageId) };
  await api.call("deleteMessage", params, { signal }).catch(unless("message to delete not found"));
}

function unless(words: string): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof Error && error.message.includes(words))) throw error;
  };
}

export function chatOf({ place, topic }: Address): { chat_id: string; message_thread_id?: number } {
  if (!/^-?\d{1,16}$|^@\w{4,32}$/.test(place))
    throw deliveryRefused(`Invalid Telegram chat ${JSON.stringify(place)}`, {
      hint: "Use the id of a chat, as `cortex events` shows it, or @name of a public channel.",
    });
  return {
    chat_id: place,
    ...(topic === undefined || topic === GENERAL_TOPIC ? {} : { message_thread_id: Number(topic) }),
  };
}
