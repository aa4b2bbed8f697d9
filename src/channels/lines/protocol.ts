/**
 * The port of channels as JSON lines, for programs in any language: what a program writes. docs/channel-plugins.md
 * describes both directions.
 */
import { z } from "zod";

import type { Json } from "../../model/json.ts";
import { CHANNEL_API } from "../channel.ts";

export const MAX_LINE_BYTES = 1024 * 1024;
/** Of a file in one line, before base64. */
export const CHUNK_BYTES = 256 * 1024;

const count = z.int().min(0);

const capabilities = z.object({
  edit: z.boolean().default(false),
  react: z.boolean().default(false),
  commands: z.boolean().default(false),
  threads: z.enum(["none", "topic", "thread"]).default("none"),
  startThread: z.boolean().default(false),
  buttons: count.default(0),
  polls: z.boolean().default(false),
  embeds: z.boolean().default(false),
  voice: z.boolean().default(false),
  attach: z.object({ maxBytes: count }).exactOptional(),
  typingMs: z.int().min(1).exactOptional(),
  ack: z.enum(["after-commit", "before"]).default("after-commit"),
  proofMs: z.int().min(1_000),
  find: z.boolean().default(false),
  onUncertain: z.enum(["repeat", "repeat-once", "leave"]),
  maxAgeMs: z.int().min(1).exactOptional(),
});

/** What a program does beside `send`. */
const REQUESTS = [
  "probe",
  "find",
  "edit",
  "remove",
  "react",
  "typing",
  "menu",
  "backfill",
  "download",
] as const;

export type Request = (typeof REQUESTS)[number];

export const hello = z.object({
  api: z.literal(CHANNEL_API),
  can: capabilities,
  format: z.object({
    /** text: plain. markdown: a subset. ranges: the text with its formatting beside it, as JSON. */
    kind: z.enum(["text", "markdown", "ranges"]),
    maxLength: z.int().min(16),
    /** What `maxLength` counts: UTF-16 units, or bytes of UTF-8. */
    counts: z.enum(["utf16", "bytes"]).default("utf16"),
  }),
  does: z.array(z.enum(REQUESTS)).default([]),
});

export type Hello = z.output<typeof hello>;

const text = z.string();
const json = z.json() as z.ZodType<Json>;

const file = z.object({
  id: text,
  name: text,
  contentType: text.exactOptional(),
  bytes: count.exactOptional(),
  kind: z.enum(["image", "audio", "voice", "video", "file"]).default("file"),
});

const inbound = z.object({
  id: text.min(1),
  kind: z.enum(["message", "edit", "delete", "reaction", "button", "command"]).default("message"),
  place: z.object({
    id: text.min(1),
    kind: z.enum(["dm", "group", "channel"]),
    name: text.exactOptional(),
    topic: text.exactOptional(),
    parent: text.exactOptional(),
  }),
  sender: z.object({
    id: text.min(1),
    name: text.exactOptional(),
    bot: z.boolean().default(false),
    self: z.boolean().default(false),
  }),
  mentionsMe: z.boolean().default(false),
  messageId: text,
  replyTo: text.exactOptional(),
  forwarded: z.literal(true).exactOptional(),
  text: text.nullable(),
  files: z.array(file).exactOptional(),
  atMs: z.int(),
  payload: json.exactOptional(),
});

const failure = z.object({
  /** refused: trying again is useless. failed: nothing was done, it may work later. uncertain: it may have been done. */
  kind: z.enum(["refused", "failed", "uncertain"]),
  message: text.min(1),
  hint: text.default("See the documentation of the plugin."),
  retryAfterMs: count.exactOptional(),
});

/** A line of a program, after its hello. */
export const programLine = z.union([
  z.strictObject({ commit: count, events: z.array(inbound).max(1_000), cursor: json.exactOptional() }),
  z.strictObject({ proof: z.literal(true) }),
  z.strictObject({ log: text.max(4_000) }),
  z.strictObject({ id: count, ok: json }),
  z.strictObject({ id: count, chunk: z.base64() }),
  z.strictObject({ id: count, error: failure }),
  /** It cannot go on: the credentials are refused, another program reads the account, or the connection was lost. */
  z.strictObject({
    end: z.enum(["credentials", "conflict", "lost"]),
    message: text.min(1),
    hint: text.default("See the documentation of the plugin."),
  }),
]);

export type ProgramLine = z.output<typeof programLine>;
