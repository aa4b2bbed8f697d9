/** Messages to Slack. Each carries its key in its metadata, by which it is found again. */
import { createHash } from "node:crypto";

import type { Embed } from "../../model/extras.ts";
import { CortexError } from "../../model/errors.ts";
import { timeOfUlid } from "../../model/ulid.ts";
import {
  type Address,
  type ChannelPorts,
  deliveryFailed,
  deliveryRefused,
  type OutgoingMessage,
  type Receipt,
} from "../channel.ts";
import type { SlackApi } from "./api.ts";
import type { Me, Message } from "./events.ts";
import { MARGIN_MS, readHistory } from "./history.ts";
import { slackFormat } from "./render.ts";

interface SendPorts {
  readonly api: SlackApi;
  readonly readFile: ChannelPorts["readFile"];
}

export async function send(
  message: OutgoingMessage,
  signal: AbortSignal,
  ports: SendPorts,
): Promise<Receipt> {
  const { address, key, edits, part } = message;
  const { api } = ports;
  const channel = await channelOf(address, api, signal);
  if (part?.kind === "file") return sendFile({ ...part, channel, topic: address.topic }, signal, ports);
  const wire =
    part?.kind === "thread" ? slackFormat.render({ text: part.name, ranges: [] }).wire : message.content;
  const metadata = { event_type: "cortex_message", event_payload: { key } };
  const shown = { channel, ...shownOf(wire, message), metadata };
  if (edits !== undefined) {
    await api.call("chat.update", { ...shown, ts: edits }, { signal });
    return { platformId: edits };
  }
  const params = {
    ...shown,
    thread_ts: address.topic,
    client_msg_id: uuidOf(key), // keeps a late first attempt from being a second message
    unfurl_links: false,
    unfurl_media: false,
  };
  const { ts } = await api.call<{ ts: string }>("chat.postMessage", params, { signal });
  return { platformId: ts };
}

/** A file has no metadata: it is known by its name and size. */
export async function find(
  { address, key, part, delivery }: OutgoingMessage,
  signal: AbortSignal,
  { api, me, clock }: { readonly api: SlackApi; readonly me: Me; readonly clock: () => number },
): Promise<Receipt | undefined> {
  const channel = await channelOf(address, api, signal);
  const isIt = ({ metadata, files }: Message): boolean =>
    part?.kind === "file"
      ? files?.some(({ name, size }) => name === part.name && size === part.bytes) === true
      : metadata?.event_payload?.["key"] === key;
  const { dateMs } = await api.call("auth.test", {}, { signal });
  const ageMs = clock() - (timeOfUlid(delivery) ?? 0);
  const sinceMs = dateMs - ageMs - MARGIN_MS;
  for await (const said of readHistory({ channel, topic: address.topic, sinceMs }, api, signal))
    if ((said.user === me.user_id || said.bot_id === me.bot_id) && isIt(said)) return { platformId: said.ts };
  return undefined;
}

/** Text and blocks, as `slackFormat` made them. */
export function readWire(wire: string): { readonly text: string; readonly blocks: readonly object[] } {
  return JSON.parse(wire) as ReturnType<typeof readWire>;
}

const MAX_LABEL = 75;

function shownOf(
  wire: string,
  { buttons = [], embed }: OutgoingMessage,
): Readonly<Record<string, unknown>> & ReturnType<typeof readWire> {
  const { text, blocks } = readWire(wire);
  const elements = buttons.map(({ label, data }, index) => ({
    type: "button",
    action_id: `cortex-${index}`,
    text: plain(label, MAX_LABEL),
    value: data,
  }));
  const actions = elements.length === 0 ? [] : [{ type: "actions", elements }];
  return {
    text,
    blocks: [...blocks, ...actions],
    ...(embed === undefined ? {} : { attachments: [attachmentOf(embed)] }),
  };
}

const MAX_TITLE = 150;
const MAX_SECTION = 3_000;

function attachmentOf({ title, description = "" }: Embed): object {
  const header = title === undefined ? [] : [{ type: "header", text: plain(title, MAX_TITLE) }];
  const sections = description === "" ? [] : [{ type: "section", text: plain(description, MAX_SECTION) }];
  return { fallback: title ?? description, blocks: [...header, ...sections] };
}

function plain(text: string, max: number): object {
  return { type: "plain_text", text: text.length > max ? `${text.slice(0, max - 1)}…` : text, emoji: false };
}

interface FileToSend {
  readonly sha256: string;
  readonly name: string;
  readonly bytes: number;
  readonly channel: string;
  readonly topic: string | undefined;
}

/** Nobody sees the file before the last step. */
async function sendFile(
  file: FileToSend,
  signal: AbortSignal,
  { api, readFile }: SendPorts,
): Promise<Receipt> {
  const { name, channel, topic } = file;
  const content = await readFile(file.sha256);
  const id = await before(async () => {
    const params = { filename: name, length: content.length };
    const granted = await api.call<{ upload_url: string; file_id: string }>(
      "files.getUploadURLExternal",
      params,
      { signal },
    );
    await api.upload(granted.upload_url, content, signal);
    return granted.file_id;
  });
  const params = { files: [{ id, title: name }], channel_id: channel, thread_ts: topic };
  await api.call("files.completeUploadExternal", params, { signal });
  return {}; // Slack posts it a moment later
}

/** What is not known of a step that shows nothing to anyone does not matter. */
async function before<Result>(act: () => Promise<Result>): Promise<Result> {
  return act().catch((error: unknown) => {
    const isUncertain = error instanceof CortexError && error.code === "delivery_uncertain";
    throw isUncertain ? deliveryFailed(error.message, { hint: "Nothing was sent.", cause: error }) : error;
  });
}

/** The place of an address. A person is written to in their direct messages. */
export async function channelOf({ place }: Address, api: SlackApi, signal: AbortSignal): Promise<string> {
  if (!/^[CDGUW][A-Z0-9]{2,}$/.test(place))
    throw deliveryRefused(`Invalid Slack channel ${JSON.stringify(place)}`, {
      hint: "Use the id of a channel or a person, as `cortex events` shows it: C0123ABC.",
    });
  if (!/^[UW]/.test(place)) return place;
  const open = () =>
    api.call<{ channel: { id: string } }>("conversations.open", { users: place }, { signal });
  return (await before(open)).channel.id;
}

/** The same for the same key. */
function uuidOf(key: string): string {
  const hash = createHash("sha256").update(key).digest("hex");
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `4${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join("-");
}
