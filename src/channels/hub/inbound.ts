/** What happened on a platform, as an event, with its files or the reason why they are missing. */
import type { OwnIncoming } from "../../events/incoming.ts";
import type { Received } from "../../intake/accept-event.ts";
import { DEFAULT_ACCOUNT } from "../../model/ids.ts";
import { errorText } from "../../model/errors.ts";
import { type Direction, MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS } from "../../model/event.ts";
import type { Json } from "../../model/json.ts";
import { SAYS } from "../../model/extras.ts";
import { present } from "../../model/present.ts";
import { FOREIGN } from "../../personas/file-labels.ts";
import type { Connection, FileRef, Inbound } from "../channel.ts";
import { withTimeout } from "../with-timeout.ts";

/** How long a file may take. One that takes longer is missing, and both sides are told. */
const DOWNLOAD_MS = 60_000;

const DIRECTIONS: Readonly<Record<Inbound["kind"], Direction>> = {
  message: "received",
  command: "received",
  button: "received",
  reaction: "observed",
  edit: "updated",
  delete: "deleted",
};

interface Account {
  readonly channel: string;
  readonly account: string;
}

/** Undefined: an echo of what Cortex has sent. */
export function toReceived(
  inbound: Inbound,
  { channel, account }: Account,
  connection: Pick<Connection, "download">,
): Received | undefined {
  const { id, kind, place, sender, files = [], text } = inbound;
  if (sender.self) return undefined;
  const isSaid = kind === "button" && text?.startsWith(SAYS) === true;
  const isMessage = kind === "message" || kind === "command";
  const incoming: OwnIncoming = {
    adapter: channel,
    sourceId: account === DEFAULT_ACCOUNT ? id : `${account}/${id}`,
    channel,
    direction: DIRECTIONS[kind],
    sender: sender.id,
    place: place.id,
    placeKind: place.kind,
    ...(account === DEFAULT_ACCOUNT ? {} : { account }),
    ...present({ topic: place.topic, placeName: place.name, parentPlace: place.parent }),
    mentionsMe: inbound.mentionsMe,
    // Its sender has not written it: it is like a document that comes with their message.
    ...(inbound.forwarded === true ? { label: FOREIGN } : {}),
    ...present({ replyTo: inbound.replyTo }),
    ...(isMessage ? { messageId: inbound.messageId } : { about: inbound.messageId }),
    content: isSaid ? text.slice(SAYS.length) : text,
    contentType: isMessage || isSaid ? "text" : kind,
    ...(files.length === 0 ? {} : { attachments: files.map(describeFile) }),
    ...present({ payload: inbound.payload }),
    metadata: present({ sender_name: sender.name, is_bot: sender.bot ? true : undefined }),
    timestampMs: inbound.atMs,
  };
  return files.length === 0 ? { incoming } : { incoming, attachments: () => downloadAll(files, connection) };
}

function describeFile({ id, name, contentType, bytes, kind }: FileRef) {
  return { id, name, kind, ...present({ contentType, bytes }) };
}

async function downloadAll(
  files: readonly FileRef[],
  connection: Pick<Connection, "download">,
): Promise<Json> {
  return Promise.all(files.slice(0, MAX_ATTACHMENTS).map((file) => download(file, connection)));
}

/** An attachment with its content, or with the reason why it has none. */
async function download(file: FileRef, connection: Pick<Connection, "download">): Promise<Json> {
  const { bytes } = file;
  const told = describeFile(file);
  if (connection.download === undefined) return told;
  if (bytes !== undefined && bytes > MAX_ATTACHMENT_BYTES) return { ...told, error: tooLarge(bytes) };
  const never = new AbortController().signal;
  try {
    const content = await withTimeout(
      async (signal) => readBounded(await connection.download!(file, signal), signal),
      never,
      DOWNLOAD_MS,
    );
    return { ...told, data: content.toString("base64") };
  } catch (error) {
    return { ...told, error: errorText(error) };
  }
}

async function readBounded(stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream) {
    signal.throwIfAborted();
    length += part.length;
    if (length > MAX_ATTACHMENT_BYTES) throw new Error(tooLarge(length));
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function tooLarge(bytes: number): string {
  return `larger than ${MAX_ATTACHMENT_BYTES / 1024 / 1024} MB (${bytes} bytes)`;
}
