/**
 * What Slack sends, as what happened. A post is the same event however it comes: as a message, as a mention of the app, both,
 * delivered again, or read from the history. Its id is its channel and time; whether it mentions the app is in its text.
 */
import { z } from "zod";

import { present } from "../../model/present.ts";
import type { FileRef, Inbound } from "../channel.ts";
import type { Directory } from "./directory.ts";
import { emojiOf } from "./emoji.ts";
import { readableText } from "./text.ts";

/** The app itself, by `auth.test`. */
export interface Me {
  readonly user_id: string;
  readonly bot_id?: string;
}

export interface Reader {
  readonly me: Me;
  readonly names: Directory;
}

/** What is not as expected in it is left out: the message counts. */
const optional = <Type extends z.ZodType>(type: Type) =>
  type
    .nullish()
    .catch(undefined)
    .transform((value) => value ?? undefined);
const text = optional(z.string());

export const message = z.object({
  ts: z.string(),
  subtype: text,
  user: text,
  bot_id: text,
  username: text,
  text,
  thread_ts: text,
  parent_user_id: text,
  edited: optional(z.object({ ts: z.string() })),
  attachments: optional(z.array(z.object({ fallback: text, text }))),
  files: optional(
    z.array(
      z.object({ id: z.string(), name: text, mimetype: text, size: optional(z.number()), subtype: text }),
    ),
  ),
  latest_reply: text,
  metadata: optional(z.object({ event_payload: optional(z.record(z.string(), z.unknown())) })),
});
export type Message = z.infer<typeof message>;

const messageEvent = message.extend({
  type: z.enum(["message", "app_mention"]),
  channel: z.string(),
  channel_type: text,
  message: optional(message),
  previous_message: optional(message),
  deleted_ts: text,
});
type MessageEvent = z.infer<typeof messageEvent>;

const reactionEvent = z.object({
  type: z.enum(["reaction_added", "reaction_removed"]),
  user: z.string(),
  reaction: z.string(),
  item: z.object({ channel: z.string(), ts: z.string() }),
  event_ts: z.string(),
});

const buttonPress = z.object({
  type: z.literal("block_actions"),
  user: z.object({ id: z.string() }),
  container: z.object({ message_ts: z.string(), channel_id: z.string(), thread_ts: text }),
  actions: z.array(z.object({ type: z.string(), value: text, action_ts: z.string() })),
});

const slashCommand = z.object({
  command: z.string(),
  text,
  user_id: z.string(),
  user_name: text,
  channel_id: z.string(),
  trigger_id: z.string(),
});

const payload = z.union([
  z.object({ event: messageEvent }),
  z.object({ event: reactionEvent }),
  buttonPress,
  slashCommand,
]);

/** None: nothing that people said or did, such as somebody joining, or nothing that can be read. */
export async function toInbound(sent: unknown, reader: Reader, nowMs: number): Promise<readonly Inbound[]> {
  const { data } = payload.safeParse(sent);
  if (data === undefined) return [];
  if ("command" in data) return [await fromCommand(data, reader, nowMs)];
  if ("actions" in data) return fromPress(data, reader);
  const { event } = data;
  if ("reaction" in event) return [await fromReaction(event, reader)];
  return (await fromEvent(event, reader)) ?? [];
}

/** What is said in these ways. All others tell what happened to the channel. */
const SAID: ReadonlySet<string> = new Set(["file_share", "thread_broadcast", "me_message", "bot_message"]);

async function fromEvent(event: MessageEvent, reader: Reader): Promise<readonly Inbound[] | undefined> {
  const { subtype, channel, channel_type: type, message: after, previous_message: before } = event;
  const at = { channel, type };
  if (subtype === "message_deleted") return fromDeletion(before, event.deleted_ts ?? before?.ts, at, reader);
  if (subtype !== "message_changed") return fromMessage(event, at, reader);
  // Of a message with a thread, a stone stays.
  if (after?.subtype === "tombstone") return fromDeletion(before, after.ts, at, reader);
  // Previews of links and replies change a message, too.
  if (after?.edited === undefined || after.text === before?.text) return undefined;
  const [edited] = await fromMessage(after, at, reader);
  if (edited === undefined) return undefined;
  const { ts } = after.edited;
  return [{ ...edited, id: `${edited.id}:edit:${ts}`, kind: "edit", atMs: msOf(ts) }];
}

interface Where {
  readonly channel: string;
  /** As events of messages have it. */
  readonly type?: string | undefined;
}

export async function fromMessage(said: Message, at: Where, reader: Reader): Promise<readonly Inbound[]> {
  const { ts, subtype, parent_user_id: parent } = said;
  if (subtype !== undefined && !SAID.has(subtype)) return [];
  const { me, names } = reader;
  const shared = (said.attachments ?? []).map((each) => each.text ?? each.fallback ?? "").join("\n");
  const written = said.text || shared;
  const isShared = !said.text && shared !== "";
  const content = await readableText(written, me.user_id, names);
  const files = (said.files ?? []).map(fileOf);
  if (content === "" && files.length === 0) return [];
  const topic = topicOf(said);
  return [
    {
      id: `${at.channel}:${ts}`,
      kind: content.startsWith("/") ? "command" : "message",
      place: await placeAt(at, topic, names),
      sender: await senderOf(said, reader),
      mentionsMe:
        written.includes(`<@${me.user_id}>`) || written.includes(`<@${me.user_id}|`) || parent === me.user_id,
      messageId: ts,
      ...present({ replyTo: topic }),
      // Without words of its own, it passes on what somebody else wrote.
      ...(isShared ? { forwarded: true as const } : {}),
      text: content === "" ? null : content,
      ...(files.length === 0 ? {} : { files }),
      atMs: msOf(ts),
    },
  ];
}

/** Slack does not say who deleted it. */
async function fromDeletion(
  deleted: Message | undefined,
  ts: string | undefined,
  at: Where,
  reader: Reader,
): Promise<readonly Inbound[] | undefined> {
  if (deleted === undefined || ts === undefined) return undefined;
  return [
    {
      id: `${at.channel}:${ts}:deleted`,
      kind: "delete",
      place: await placeAt(at, topicOf(deleted), reader.names),
      sender: await senderOf(deleted, reader),
      mentionsMe: false,
      messageId: ts,
      text: null,
      atMs: msOf(ts),
    },
  ];
}

async function fromReaction(
  { type, user, reaction, item: { channel, ts }, event_ts: at }: z.infer<typeof reactionEvent>,
  { me, names }: Reader,
): Promise<Inbound> {
  const isAdded = type === "reaction_added";
  return {
    id: `${channel}:${ts}:${type}:${user}:${reaction}:${at}`,
    kind: "reaction",
    place: await placeAt({ channel }, undefined, names),
    sender: await personOf(user, { me, names }),
    mentionsMe: false,
    messageId: ts,
    text: isAdded ? emojiOf(reaction) : null,
    atMs: msOf(at),
  };
}

async function fromPress(
  { user, container, actions }: z.infer<typeof buttonPress>,
  reader: Reader,
): Promise<readonly Inbound[]> {
  const { channel_id: channel, message_ts: ts, thread_ts: thread } = container;
  const pressed = actions.filter(({ type, value }) => type === "button" && value !== undefined);
  return Promise.all(
    pressed.map(async ({ value, action_ts: at }) => ({
      id: `${channel}:${ts}:button:${user.id}:${at}`,
      kind: "button" as const,
      place: await placeAt({ channel }, topicOf({ ts, thread_ts: thread }), reader.names),
      sender: await personOf(user.id, reader),
      mentionsMe: true,
      messageId: ts,
      text: value!,
      atMs: msOf(at),
    })),
  );
}

/** `/cortex status` is `/status`. Slack shows it to nobody, so it has no message. */
async function fromCommand(
  { text: given, user_id: user, channel_id: channel, trigger_id: id }: z.infer<typeof slashCommand>,
  { me, names }: Reader,
  nowMs: number,
): Promise<Inbound> {
  const line = (given ?? "").trim() || "help";
  return {
    id: `command:${id}`,
    kind: "command",
    place: await placeAt({ channel }, undefined, names),
    sender: await personOf(user, { me, names }),
    mentionsMe: true,
    messageId: id,
    text: /^[/!]/.test(line) ? line : `/${line}`,
    atMs: nowMs,
  };
}

/** A message that began a thread is not in it. */
export function topicOf({ ts, thread_ts: thread }: Pick<Message, "ts" | "thread_ts">): string | undefined {
  return thread === undefined || thread === ts ? undefined : thread;
}

const KINDS: Readonly<Record<string, Inbound["place"]["kind"]>> = {
  im: "dm",
  app_home: "dm",
  mpim: "group",
  group: "group",
  channel: "channel",
};

async function placeAt(
  { channel: id, type }: Where,
  topic: string | undefined,
  names: Directory,
): Promise<Inbound["place"]> {
  const place = await names.place(id);
  const kind = KINDS[type ?? ""] ?? place?.kind ?? (id.startsWith("D") ? "dm" : "channel");
  return { id, kind, ...present({ name: place?.name, topic }) };
}

async function senderOf(
  { user, bot_id: bot, username }: Message,
  reader: Reader,
): Promise<Inbound["sender"]> {
  const { me, names } = reader;
  const isSelf = user === me.user_id || (bot !== undefined && bot === me.bot_id);
  if (bot === undefined) return { ...(await personOf(user ?? "unknown", reader)), self: isSelf };
  const name = username ?? (user === undefined ? undefined : await names.person(user));
  return { id: user ?? bot, ...present({ name }), bot: true, self: isSelf };
}

async function personOf(id: string, { me, names }: Reader): Promise<Inbound["sender"]> {
  return {
    id,
    ...present({ name: await names.person(id) }),
    bot: id === "USLACKBOT",
    self: id === me.user_id,
  };
}

function fileOf(file: NonNullable<Message["files"]>[number]): FileRef {
  const { id, name, mimetype: contentType, size: bytes, subtype } = file;
  const [type = ""] = (contentType ?? "").split("/");
  const kind =
    subtype === "slack_audio"
      ? "voice"
      : type === "image" || type === "audio" || type === "video"
        ? type
        : "file";
  return {
    id,
    name: name ?? "file",
    kind,
    ...present({ contentType, bytes }),
  };
}

/** Slack's times are seconds with a fraction that makes them unique. */
export function msOf(ts: string): number {
  return Math.floor(Number(ts) * 1_000);
}
