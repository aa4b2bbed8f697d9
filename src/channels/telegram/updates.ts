/** What Telegram sends, as what happened. Only the fields that are read are described. */
import type { PlaceKind } from "../../model/event.ts";
import { present } from "../../model/present.ts";
import type { FileRef, Inbound } from "../channel.ts";

/** The account of the bot, by `getMe`. */
export interface Me {
  readonly id: number;
  readonly username?: string;
  readonly can_read_all_group_messages?: boolean;
}

export interface Update {
  readonly update_id: number;
  readonly message?: Message;
  readonly edited_message?: Message;
  readonly channel_post?: Message;
  readonly edited_channel_post?: Message;
  readonly callback_query?: CallbackQuery;
  readonly message_reaction?: MessageReaction;
}

/** The kinds of updates that are asked for. Reactions come only if they are named. */
export const UPDATE_KINDS = [
  "message",
  "edited_message",
  "channel_post",
  "edited_channel_post",
  "callback_query",
  "message_reaction",
] as const;

interface User {
  readonly id: number;
  readonly is_bot: boolean;
  readonly first_name: string;
  readonly last_name?: string;
  readonly username?: string;
}

interface Chat {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup" | "channel";
  readonly title?: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly username?: string;
}

interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly user?: User;
}

interface File {
  readonly file_id: string;
  readonly file_name?: string;
  readonly mime_type?: string;
  readonly file_size?: number;
}

interface Message {
  readonly message_id: number;
  readonly message_thread_id?: number;
  readonly is_topic_message?: boolean;
  readonly from?: User;
  readonly sender_chat?: Chat;
  readonly date: number;
  readonly edit_date?: number;
  /** Who wrote it first. Absent: its sender. */
  readonly forward_origin?: { readonly type: string; readonly sender_user?: User };
  readonly chat: Chat;
  readonly reply_to_message?: Message;
  readonly text?: string;
  readonly entities?: readonly Entity[];
  readonly caption?: string;
  readonly caption_entities?: readonly Entity[];
  readonly photo?: readonly File[];
  readonly document?: File;
  readonly audio?: File;
  readonly voice?: File;
  readonly video?: File;
  readonly video_note?: File;
  readonly animation?: File;
  readonly sticker?: File & { readonly emoji?: string };
  readonly location?: { readonly latitude: number; readonly longitude: number };
  readonly contact?: { readonly first_name: string; readonly phone_number: string };
  /** This group has become a supergroup, with this id. */
  readonly migrate_to_chat_id?: number;
  readonly poll?: { readonly question: string; readonly options: readonly { readonly text: string }[] };
}

interface CallbackQuery {
  readonly id: string;
  readonly from: User;
  readonly message?: Message;
  readonly data?: string;
}

interface MessageReaction {
  readonly chat: Chat;
  readonly message_id: number;
  readonly user?: User;
  readonly actor_chat?: Chat;
  readonly date: number;
  readonly new_reaction: readonly { readonly type: string; readonly emoji?: string }[];
}

/** Undefined: nothing that people said, such as somebody joining. */
export function toInbound(update: Update, me: Me): Inbound | undefined {
  const { update_id: id, message, channel_post, edited_message, edited_channel_post } = update;
  const said = message ?? channel_post;
  if (said !== undefined) return fromMessage(said, me);
  const edited = edited_message ?? edited_channel_post;
  if (edited !== undefined) return fromEdit(edited, id, me);
  if (update.callback_query !== undefined) return fromButton(update.callback_query, me);
  if (update.message_reaction !== undefined) return fromReaction(update.message_reaction, id, me);
  return undefined;
}

function fromMessage(message: Message, me: Me): Inbound | undefined {
  const { chat, message_id: id, date, reply_to_message: replied } = message;
  const text = textOf(message, me);
  const files = filesOf(message);
  if (text === null && files.length === 0) return undefined;
  // In a topic, every message replies to the one that opened it.
  const isReply = replied !== undefined && replied.message_id !== message.message_thread_id;
  return {
    id: `${chat.id}:${id}`,
    kind: text?.startsWith("/") === true ? "command" : "message",
    place: placeOf(message),
    sender: senderOf(message, me),
    ...(isOfOthers(message) ? { forwarded: true } : {}),
    mentionsMe: mentions(message, me) || (isReply && replied.from?.id === me.id),
    messageId: String(id),
    ...(isReply ? { replyTo: String(replied.message_id) } : {}),
    text,
    ...(files.length === 0 ? {} : { files }),
    atMs: date * 1_000,
  };
}

function fromEdit(message: Message, update: number, me: Me): Inbound | undefined {
  const edited = fromMessage(message, me);
  if (edited === undefined) return undefined;
  const atMs = (message.edit_date ?? message.date) * 1_000;
  return { ...edited, id: `${edited.id}:edit:${update}`, kind: "edit", atMs };
}

/** Of a message that is too old, Telegram does not say where it is. */
function fromButton({ id, from, message, data }: CallbackQuery, me: Me): Inbound | undefined {
  if (message === undefined || data === undefined) return undefined;
  return {
    id: `button:${id}`,
    kind: "button",
    place: placeOf(message),
    sender: personOf(from, me),
    mentionsMe: true,
    messageId: String(message.message_id),
    text: data,
    atMs: message.date * 1_000,
  };
}

function fromReaction(
  { chat, message_id: message, user, actor_chat: actor, date, new_reaction: reactions }: MessageReaction,
  update: number,
  me: Me,
): Inbound | undefined {
  const emojis = reactions.flatMap(({ emoji }) => emoji ?? []);
  const sender = user === undefined ? actor && chatSender(actor) : personOf(user, me);
  if (sender === undefined) return undefined;
  return {
    id: `${chat.id}:${message}:reaction:${update}`,
    kind: "reaction",
    place: { id: String(chat.id), kind: kindOf(chat), ...present({ name: nameOf(chat) }) },
    sender,
    mentionsMe: false,
    messageId: String(message),
    text: emojis.length === 0 ? null : emojis.join(""), // none: it was taken back
    atMs: date * 1_000,
  };
}

function placeOf({ chat, message_thread_id: thread, is_topic_message: isTopic }: Message): Inbound["place"] {
  const topic = isTopic === true && thread !== undefined ? String(thread) : undefined;
  return { id: String(chat.id), kind: kindOf(chat), ...present({ name: nameOf(chat), topic }) };
}

function kindOf({ type }: Chat): PlaceKind {
  switch (type) {
    case "private":
      return "dm";
    case "group":
    case "supergroup":
      return "group";
    case "channel":
      return "channel";
  }
}

function nameOf({
  title,
  first_name: first,
  last_name: last,
}: Chat | (User & { readonly title?: string })): string | undefined {
  const name = title ?? [first, last].filter((part) => part !== undefined).join(" ");
  return name === "" ? undefined : name;
}

/** Whether its sender passes on what somebody else wrote. */
function isOfOthers({ forward_origin: origin, from }: Message): boolean {
  return origin !== undefined && (origin.sender_user === undefined || origin.sender_user.id !== from?.id);
}

/** Channels and anonymous administrators speak as a chat. */
function senderOf({ from, sender_chat: as, chat }: Message, me: Me): Inbound["sender"] {
  if (as !== undefined) return chatSender(as);
  return from === undefined ? chatSender(chat) : personOf(from, me);
}

function chatSender(chat: Chat): Inbound["sender"] {
  return { id: String(chat.id), ...present({ name: nameOf(chat) }), bot: false, self: false };
}

function personOf(user: User, me: Me): Inbound["sender"] {
  const { id, is_bot: bot } = user;
  return { id: String(id), ...present({ name: nameOf(user) }), bot, self: id === me.id };
}

function mentions({ text, caption, entities, caption_entities: captionEntities }: Message, me: Me): boolean {
  const said = text ?? caption ?? "";
  return (entities ?? captionEntities ?? []).some(({ type, offset, length, user }) => {
    if (type === "text_mention") return user?.id === me.id;
    const part = said.slice(offset, offset + length).toLowerCase();
    const name = `@${me.username?.toLowerCase()}`;
    return type === "mention" ? part === name : type === "bot_command" && part.endsWith(name);
  });
}

/** Without the name of the bot. What is no text is told in brackets. */
function textOf(message: Message, { username }: Me): string | null {
  const { text, caption, location, contact, poll, sticker } = message;
  const said = text ?? caption;
  if (said !== undefined) return username === undefined ? said : withoutName(said, username);
  if (location !== undefined) return `[Location: ${location.latitude}, ${location.longitude}]`;
  if (contact !== undefined) return `[Contact: ${contact.first_name}, ${contact.phone_number}]`;
  if (poll !== undefined)
    return `[Poll: ${poll.question} (${poll.options.map((each) => each.text).join(", ")})]`;
  if (sticker !== undefined) return `[Sticker${sticker.emoji === undefined ? "" : ` ${sticker.emoji}`}]`;
  return null;
}

/** `/status@my_bot` is `/status`, and `@my_bot hello` is `hello`. A user name is letters, digits and _. */
function withoutName(text: string, username: string): string {
  return text
    .replace(new RegExp(`^(/\\w+)@${username}\\b`, "i"), "$1")
    .replace(new RegExp(`^@${username}\\b[\\s,:]*`, "i"), "");
}

function filesOf(message: Message): FileRef[] {
  const photo = message.photo?.at(-1); // the last one is the largest
  const named: readonly (readonly [File | undefined, FileRef["kind"], string])[] = [
    [photo, "image", "photo.jpg"],
    // An animation comes as a document, too.
    [message.animation ?? message.document, message.animation === undefined ? "file" : "video", "file"],
    [message.audio, "audio", "audio"],
    [message.voice, "voice", "voice.ogg"],
    [message.video ?? message.video_note, "video", "video.mp4"],
    [message.sticker, "image", "sticker.webp"],
  ];
  return named.flatMap(([file, kind, name]) =>
    file === undefined
      ? []
      : [
          {
            id: file.file_id,
            name: file.file_name ?? name,
            kind,
            ...present({ contentType: file.mime_type, bytes: file.file_size }),
          },
        ],
  );
}
