/** What Discord dispatches, as what happened. Only the fields that are read are described. */
import { present } from "../../model/present.ts";
import type { FileRef, Inbound } from "../channel.ts";
import type { Dispatch } from "./gateway.ts";
import { remember } from "../../model/remember.ts";
import type { Places } from "./places.ts";

export interface User {
  readonly id: string;
  readonly username: string;
  readonly global_name?: string | null;
  readonly bot?: boolean;
}

interface Attachment {
  readonly id: string;
  readonly filename: string;
  readonly size: number;
  readonly url: string;
  readonly content_type?: string;
}

interface Content {
  readonly content: string;
  readonly attachments: readonly Attachment[];
  readonly embeds: readonly {
    readonly title?: string;
    readonly description?: string;
    readonly url?: string;
  }[];
}

export interface Message extends Content {
  readonly id: string;
  readonly channel_id: string;
  readonly guild_id?: string;
  readonly type: number;
  readonly flags?: number;
  readonly timestamp: string;
  readonly edited_timestamp: string | null;
  readonly author: User;
  readonly member?: Member;
  readonly webhook_id?: string;
  readonly mentions: readonly User[];
  readonly mention_roles: readonly string[];
  readonly message_reference?: { readonly message_id?: string };
  readonly referenced_message?: { readonly author: User } | null;
  readonly message_snapshots?: readonly { readonly message: Content }[];
  readonly sticker_items?: readonly { readonly name: string }[];
  readonly poll?: {
    readonly question: { readonly text: string };
    readonly answers: readonly { readonly poll_media: { readonly text?: string } }[];
  };
}

interface Member {
  readonly user?: User;
  readonly nick?: string | null;
}

/** Somebody, somewhere, beside a message. */
interface Act {
  readonly id: string;
  readonly channel_id: string;
  readonly guild_id?: string;
  readonly member?: Member;
  readonly user?: User;
}

interface Reaction extends Act {
  readonly user_id: string;
  readonly message_id: string;
  readonly emoji: { readonly id: string | null; readonly name: string | null };
}

export interface Interaction extends Act {
  readonly type: number;
  readonly token: string;
  readonly message?: { readonly id: string };
  readonly data: { readonly custom_id: string } & Option;
}

interface Option {
  readonly name: string;
  readonly value?: string | number | boolean;
  readonly options?: readonly Option[];
}

export const PRESSED = 3;
const COMMAND = 2;
/** An ordinary message, a reply, and what a command or a menu has left. All others are notices of Discord's. */
const REPLY = 19;
const SAID: ReadonlySet<number> = new Set([0, REPLY, 20, 23]);
const VOICE_MESSAGE = 1 << 13;
const DM = 1;
const THREADS: ReadonlySet<number> = new Set([10, 11, 12]);
const MAX_AUTHORS = 2_000;

export class Reader {
  readonly me: User;
  readonly #places: Places;
  readonly #clock: () => number;
  /** Who wrote the latest messages: a deletion does not say. */
  readonly #authors = new Map<string, Inbound["sender"]>();

  constructor(me: User, places: Places, clock: () => number) {
    this.me = me;
    this.#places = places;
    this.#clock = clock;
  }

  /** The session tells apart what has no id of its own. */
  async read({ type, data, seq }: Dispatch, session: string, signal: AbortSignal): Promise<Inbound[]> {
    switch (type) {
      case "MESSAGE_CREATE":
        return one(await this.#message(data as Message, signal));
      case "MESSAGE_UPDATE":
        return one(await this.#edit(data as Message, signal));
      case "MESSAGE_DELETE":
        return this.#deletion([(data as Act).id], data as Act, signal);
      case "MESSAGE_DELETE_BULK":
        return this.#deletion((data as { readonly ids: readonly string[] }).ids, data as Act, signal);
      case "MESSAGE_REACTION_ADD":
      case "MESSAGE_REACTION_REMOVE":
        return this.#reaction(
          data as Reaction,
          { isGone: type.endsWith("E"), at: `${session}:${seq}` },
          signal,
        );
      case "INTERACTION_CREATE":
        return this.#interaction(data as Interaction, signal);
      default:
        return [];
    }
  }

  async #message(message: Message, signal: AbortSignal): Promise<Inbound | undefined> {
    const { id, type, author, webhook_id: webhook, mentions, referenced_message: replied } = message;
    if (!SAID.has(type)) return undefined;
    const known = this.#sender(author, message.member);
    const sender = webhook === undefined ? known : { ...known, bot: true };
    remember(this.#authors, [id, sender], MAX_AUTHORS);
    if (sender.self) return undefined;
    const { text, addressed } = await this.#text(message, signal);
    const files = filesOf(message);
    if (text === null && files.length === 0) return undefined;
    return {
      id,
      kind: text?.startsWith("/") === true ? "command" : "message",
      place: await this.#place(message, signal),
      sender,
      mentionsMe: addressed || [...mentions, replied?.author].some((user) => user?.id === this.me.id),
      messageId: id,
      ...(type === REPLY ? present({ replyTo: message.message_reference?.message_id }) : {}),
      ...((message.message_snapshots ?? []).length > 0 ? { forwarded: true as const } : {}),
      text,
      files,
      atMs: Date.parse(message.timestamp),
    };
  }

  /**
   * Discord updates a message for other reasons, too, such as a preview of a link: then its last edit is an old one. The
   * time is when it is heard of, as with deletions and reactions, which have no other: so they keep their order.
   */
  async #edit(message: Message, signal: AbortSignal): Promise<Inbound | undefined> {
    const { edited_timestamp: at } = message;
    const edited = typeof at === "string" ? await this.#message(message, signal) : undefined;
    if (edited === undefined) return undefined;
    return { ...edited, id: `${edited.id}:edit:${at}`, kind: "edit", atMs: this.#clock() };
  }

  async #deletion(ids: readonly string[], at: Act, signal: AbortSignal): Promise<Inbound[]> {
    const place = await this.#place(at, signal);
    return ids.flatMap((id) => {
      const sender = this.#authors.get(id) ?? { id: at.channel_id, bot: false, self: false };
      if (sender.self) return [];
      const act = { place, sender, mentionsMe: false, messageId: id, text: null, atMs: this.#clock() };
      return [{ id: `${id}:delete`, kind: "delete", ...act }];
    });
  }

  async #reaction(
    { emoji, user_id: id, message_id: messageId, member, ...at }: Reaction,
    { isGone, at: once }: { readonly isGone: boolean; readonly at: string },
    signal: AbortSignal,
  ): Promise<Inbound[]> {
    const name = emoji.id === null ? emoji.name : `:${emoji.name}:`;
    const self = id === this.me.id;
    if (self) return [];
    return [
      {
        id: `${messageId}:reaction:${once}`,
        kind: "reaction",
        place: await this.#place(at, signal),
        sender: member?.user === undefined ? { id, bot: false, self } : this.#sender(member.user, member),
        mentionsMe: false,
        messageId,
        text: isGone ? null : name,
        atMs: this.#clock(),
      },
    ];
  }

  /** A pressed button, or a command with all that was given to it. */
  async #interaction(interaction: Interaction, signal: AbortSignal): Promise<Inbound[]> {
    const { id, type, data, message, member } = interaction;
    const user = interaction.user ?? member?.user;
    if (user === undefined || (type !== PRESSED && type !== COMMAND)) return [];
    const isPressed = type === PRESSED;
    return [
      {
        id: `interaction:${id}`,
        kind: isPressed ? "button" : "command",
        place: await this.#place(interaction, signal),
        sender: this.#sender(user, member),
        mentionsMe: true,
        messageId: message?.id ?? id,
        text: isPressed ? data.custom_id : `/${wordsOf(data).join(" ")}`,
        atMs: timeOf(id),
      },
    ];
  }

  #sender(user: User, member?: Member): Inbound["sender"] {
    const name = member?.nick ?? nameOf(user);
    return { id: user.id, name, bot: user.bot === true, self: user.id === this.me.id };
  }

  /** A thread is a topic of its channel. */
  async #place(at: { readonly channel_id: string; readonly guild_id?: string }, signal: AbortSignal) {
    const { channel_id: id } = at;
    const channel = await this.#places.channel(id, signal);
    const guild = at.guild_id ?? channel?.guild_id;
    if (guild === undefined)
      return { id, kind: channel === undefined || channel.type === DM ? "dm" : "group" } as const;
    const isThread = channel !== undefined && THREADS.has(channel.type);
    const home = (isThread ? channel.parent_id : undefined) ?? id;
    const { name } = (home === id ? channel : await this.#places.channel(home, signal)) ?? {};
    // The first channel of an old server has its id.
    const parent = guild === home ? undefined : guild;
    return {
      id: home,
      kind: "channel",
      ...present({ name, parent, topic: home === id ? undefined : id }),
    } as const;
  }

  /** With names instead of ids, and without the name of the bot. What is no text is told in brackets. */
  async #text(message: Message, signal: AbortSignal) {
    const { content, guild_id: guild, mentions, mention_roles: asked, embeds, poll } = message;
    const roles = guild !== undefined && asked.length > 0 ? await this.#places.roles(guild, signal) : [];
    const channels =
      guild !== undefined && content.includes("<#") ? await this.#places.channels(guild, signal) : [];
    const mine = roles.find(({ tags }) => tags?.bot_id === this.me.id)?.id;
    const said = content
      .replaceAll(/\s*<@[!&]?(\d+)>[ ,:]*/g, (whole, id: string) =>
        id === this.me.id || id === mine ? " " : whole,
      )
      .replaceAll(/<@!?(\d+)>/g, (whole, id) => named("@", mentions.map(withName).find(is(id)), whole))
      .replaceAll(/<@&(\d+)>/g, (whole, id) => named("@", roles.find(is(id)), whole))
      .replaceAll(/<#(\d+)>/g, (whole, id) => named("#", channels.find(is(id)), whole))
      .replaceAll(/<a?(:\w+:)\d+>|<(\/[^:<>]+):\d+>/g, "$1$2")
      .trim();
    const told = [
      ...(message.sticker_items ?? []).map(({ name }) => `[Sticker: ${name}]`),
      ...(message.message_snapshots ?? []).map((each) => `[Forwarded: ${each.message.content}]`),
      // Where somebody writes, they are previews of links.
      ...(content === "" ? embeds : []).map((each) => `[Embed: ${embedText(each)}]`),
      ...(poll === undefined ? [] : [`[Poll: ${poll.question.text} (${answersOf(poll).join(", ")})]`]),
    ];
    const text =
      content === "" && told.length === 0 ? null : [said, ...told].filter((part) => part !== "").join("\n");
    return { text, addressed: mine !== undefined && asked.includes(mine) };
  }
}

function one(inbound: Inbound | undefined): Inbound[] {
  return inbound === undefined ? [] : [inbound];
}

function nameOf({ global_name: shown, username }: User): string {
  return shown ?? username;
}

function withName(user: User) {
  return { id: user.id, name: nameOf(user) };
}

function is(id: string): (each: { readonly id: string }) => boolean {
  return (each) => each.id === id;
}

function named(sign: string, found: { readonly name?: string } | undefined, whole: string): string {
  return found?.name === undefined ? whole : sign + found.name;
}

function embedText({ title, description, url }: Content["embeds"][number]): string {
  return [title, description, url].filter((part) => part !== undefined).join(": ");
}

function answersOf({ answers }: NonNullable<Message["poll"]>): string[] {
  return answers.map((answer) => answer.poll_media.text ?? "");
}

function wordsOf({ name, value, options = [] }: Option): string[] {
  // The name of a value is ours; those of commands inside commands are the person's choice.
  return [value === undefined ? name : String(value), ...options.flatMap(wordsOf)];
}

/** The id is its address, and the message that gives a fresh one: an address ends after a day. */
function filesOf({ channel_id: channel, id, flags = 0, ...message }: Message): FileRef[] {
  const files: FileRef[] = [];
  for (const { url, filename: name, size: bytes, content_type: contentType } of attachmentsOf(message)) {
    const kind = (flags & VOICE_MESSAGE) === 0 ? kindOf(contentType) : "voice";
    files.push({ id: `${url}#${channel}/${id}`, name, bytes, kind, ...present({ contentType }) });
  }
  return files;
}

export function attachmentsOf({
  attachments,
  message_snapshots: forwarded = [],
}: Pick<Message, "attachments" | "message_snapshots">) {
  return [...attachments, ...forwarded.flatMap(({ message }) => message.attachments)];
}

function kindOf(contentType = ""): FileRef["kind"] {
  const kind = /^(image|audio|video)\//.exec(contentType)?.[1];
  return (kind as "image" | "audio" | "video" | undefined) ?? "file";
}

const DISCORD_EPOCH_MS = 1_420_070_400_000;

/** Ids of Discord's begin with a time. */
function timeOf(id: string): number {
  return Number(BigInt(id) >> 22n) + DISCORD_EPOCH_MS;
}

export function idAt(ms: number): string {
  return String(BigInt(Math.max(Math.floor(ms) - DISCORD_EPOCH_MS, 0)) << 22n);
}
