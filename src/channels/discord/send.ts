/** What goes out: one request a message, with a nonce by which Discord takes it once for some minutes. */
import { createHash } from "node:crypto";

import { DAY_MS, MINUTE_MS } from "../../model/durations.ts";
import type { Button, Part } from "../../model/extras.ts";
import { truncate } from "../../model/truncate.ts";
import { timeOfUlid } from "../../model/ulid.ts";
import {
  type Address,
  type ChannelPorts,
  deliveryRefused,
  deliveryUncertain,
  type OutgoingMessage,
  type Receipt,
} from "../channel.ts";
import type { DiscordApi } from "./api.ts";
import { idAt, type Message, type User } from "./inbound.ts";
import { remember } from "../../model/remember.ts";
import type { Channel } from "./places.ts";

/** Discord checks nonces of "the past few minutes". */
const NONCE_MS = 2 * MINUTE_MS;
/** How far its clock and ours may differ. */
const SKEW_MS = 5 * MINUTE_MS;
const PAGE = 100;
const MAX_PAGES = 10;
const MAX_SENT = 1_000;
const BUTTONS_IN_ROW = 5;
/** Discord's limit is 100, with the ellipsis. */
const MAX_THREAD_NAME = 99;
const PUBLIC_THREAD = 11;
const POLL_HOURS = 24;
const VOICE_MESSAGE = 1 << 13;
/** Discord wants a picture of the sound. */
const WAVEFORM = Buffer.alloc(64, 128).toString("base64");

type File = Extract<Part, { kind: "file" }>;
type Thread = Extract<Part, { kind: "thread" }>;

interface SenderPorts extends Pick<ChannelPorts, "clock" | "readFile"> {
  readonly api: DiscordApi;
}

export class Outgoing {
  readonly #ports: SenderPorts;
  /** The keys of the latest messages: none of them is another one. */
  readonly #sent = new Map<string, string>();

  constructor(ports: SenderPorts) {
    this.#ports = ports;
  }

  async send(message: OutgoingMessage, signal: AbortSignal): Promise<Receipt> {
    const { address, edits, part } = message;
    const channel = channelOf(address);
    if (edits !== undefined) {
      await this.#ports.api(`PATCH ${messagePath(channel, edits)}`, signal, contentOf(message));
      return { platformId: edits };
    }
    if (part?.kind === "thread") return this.#startThread(part, message, signal);
    const nonce = createHash("sha256").update(message.key).digest("base64url").slice(0, 25);
    const body = {
      ...bodyOf(message),
      nonce,
      enforce_nonce: true,
      ...(message.replyTo === undefined
        ? {}
        : { message_reference: { message_id: numberOf(message.replyTo), fail_if_not_exists: false } }),
    };
    const { id } = await this.#ports.api<{ id: string }>(
      `POST /channels/${channel}/messages`,
      signal,
      part?.kind === "file" ? withFile(body, part, await this.#ports.readFile(part.sha256)) : body,
    );
    remember(this.#sent, [id, message.key], MAX_SENT);
    return { platformId: id };
  }

  /**
   * A message of the last minutes is sent again, because its nonce makes that safe. An older one is looked for by its
   * content among our own messages since it was made. Throws where they cannot be read.
   */
  async find(message: OutgoingMessage, signal: AbortSignal): Promise<Receipt | undefined> {
    const { address, part, edits, key } = message;
    for (const [platformId, sent] of this.#sent) if (sent === key) return { platformId };
    const madeAtMs = timeOfUlid(message.delivery) ?? 0;
    const nowMs = this.#ports.clock();
    const since = idAt(Math.max(madeAtMs, nowMs - DAY_MS) - SKEW_MS);
    if (edits !== undefined) return undefined;
    if (part?.kind === "thread") return this.#findThread(part, { ...message, since }, signal);
    if (madeAtMs <= nowMs && nowMs - madeAtMs < NONCE_MS) return undefined;
    const me = await this.#ports.api<User>("GET /users/@me", signal);
    for (let before = "", pages = 0; pages < MAX_PAGES; pages++) {
      const path = `/channels/${channelOf(address)}/messages?limit=${PAGE}${before}`;
      const page = await this.#ports.api<readonly Message[]>(`GET ${path}`, signal);
      if (pages === 0 && page.length === 0) throw unreadable();
      const isOurs = (each: Message): boolean =>
        each.author.id === me.id && BigInt(each.id) >= BigInt(since) && !this.#sent.has(each.id);
      const found = page.find((each) => isOurs(each) && isSame(each, message));
      if (found !== undefined) return { platformId: found.id };
      const oldest = page.at(-1)?.id;
      if (oldest === undefined || page.length < PAGE || BigInt(oldest) < BigInt(since)) return undefined;
      before = `&before=${oldest}`;
    }
    throw unreadable();
  }

  /** Below the message that it answers, or by itself. */
  async #startThread({ name }: Thread, message: OutgoingMessage, signal: AbortSignal): Promise<Receipt> {
    const { address, replyTo, key } = message;
    const channel = channelOf(address);
    const [path, body] =
      replyTo === undefined
        ? [`/channels/${channel}/threads`, { name: truncate(name, MAX_THREAD_NAME), type: PUBLIC_THREAD }]
        : [`${messagePath(channel, replyTo)}/threads`, { name: truncate(name, MAX_THREAD_NAME) }];
    const { id } = await this.#ports.api<Channel>(`POST ${path}`, signal, body);
    remember(this.#sent, [id, key], MAX_SENT);
    return { platformId: id };
  }

  async #findThread(
    { name }: Thread,
    { address, replyTo, since }: Pick<OutgoingMessage, "address" | "replyTo"> & { readonly since: string },
    signal: AbortSignal,
  ): Promise<Receipt | undefined> {
    const { api } = this.#ports;
    const channel = channelOf(address);
    const { guild_id: guild } = await api<Channel>(`GET /channels/${channel}`, signal);
    const me = await api<User>("GET /users/@me", signal);
    const { threads } = await api<{ readonly threads: readonly Channel[] }>(
      `GET /guilds/${guild}/threads/active`,
      signal,
    );
    const found = threads.find(({ id, owner_id: owner, parent_id: parent, name: known }) => {
      // A thread has the id of the message that it is below.
      if (parent !== channel || replyTo !== undefined) return id === replyTo;
      return (
        owner === me.id &&
        known === truncate(name, MAX_THREAD_NAME) &&
        BigInt(id) >= BigInt(since) &&
        !this.#sent.has(id)
      );
    });
    return found === undefined ? undefined : { platformId: found.id };
  }
}

/** Of a message with a text, also when it changes. */
export function contentOf({
  content,
  buttons = [],
  embed,
}: Pick<OutgoingMessage, "content" | "buttons" | "embed">) {
  return {
    content,
    embeds: embed === undefined ? [] : [embed],
    components: rowsOf(buttons),
    allowed_mentions: NOBODY,
  };
}

/** Whatever a text says, nobody is called by it. */
const NOBODY = { parse: [], replied_user: false };

function bodyOf(message: OutgoingMessage): object {
  const { part } = message;
  if (part?.kind !== "poll") return part === undefined ? contentOf(message) : { allowed_mentions: NOBODY };
  const answers = part.options.map((text) => ({ poll_media: { text } }));
  return { poll: { question: { text: part.question }, answers, duration: POLL_HOURS } };
}

function withFile(body: object, { name, contentType, voice = false }: File, content: Uint8Array): FormData {
  const seconds = voice ? opusSeconds(Buffer.from(content)) : undefined;
  const played = seconds === undefined ? {} : { duration_secs: seconds, waveform: WAVEFORM };
  const attachments = [{ id: "0", filename: name, ...played }];
  const flags = seconds === undefined ? {} : { flags: VOICE_MESSAGE };
  const form = new FormData();
  form.set("payload_json", JSON.stringify({ ...body, ...flags, attachments }));
  form.set("files[0]", new Blob([new Uint8Array(content)], { type: contentType }), name);
  return form;
}

/** How long an Ogg Opus file plays: its last page tells the samples up to there, 48,000 a second. */
function opusSeconds(content: Buffer): number | undefined {
  const last = content.lastIndexOf("OggS");
  const isOpus = content.subarray(0, 64).includes("OpusHead") && last + 14 <= content.length;
  return isOpus ? Number(content.readBigUInt64LE(last + 6)) / 48_000 : undefined;
}

function rowsOf(buttons: readonly Button[]): object[] {
  const all = buttons.map(({ label, data }) => ({ type: 2, style: 2, label, custom_id: data }));
  return Array.from({ length: Math.ceil(all.length / BUTTONS_IN_ROW) }, (_, row) => ({
    type: 1,
    components: all.slice(row * BUTTONS_IN_ROW, (row + 1) * BUTTONS_IN_ROW),
  }));
}

/** Whether a message of ours is what this one would be. */
function isSame({ content, attachments, poll }: Message, { content: wire, part }: OutgoingMessage): boolean {
  if (part?.kind === "poll") return poll?.question.text === part.question;
  if (part?.kind === "file") return attachments.length === 1 && attachments[0]!.size === part.bytes;
  return content.trim() === wire.trim() && poll === undefined && attachments.length === 0;
}

/** The thread, or the channel. */
export function channelOf({ place, topic }: Pick<Address, "place" | "topic">): string {
  return numberOf(topic ?? place);
}

export function messagePath(channel: string, message: string): string {
  return `/channels/${channel}/messages/${numberOf(message)}`;
}

function numberOf(id: string): string {
  if (/^\d{1,20}$/.test(id)) return id;
  throw deliveryRefused(`Invalid Discord id ${JSON.stringify(id)}`, {
    hint: "Use the id of a channel or a message, as `cortex events` shows it.",
  });
}

function unreadable(): Error {
  return deliveryUncertain("Cannot tell whether the message arrived: its channel cannot be read back", {
    hint: "Allow the bot to read the message history there.",
  });
}
