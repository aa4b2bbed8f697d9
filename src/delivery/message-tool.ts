/** The tool by which an agent writes to somebody at once, wherever they are, beside the answer of its turn. */
import { z } from "zod";

import { type OutletCan, TEXT_ONLY } from "../channels/outlet.ts";
import { defineTool } from "../model/define-tool.ts";
import { CortexError } from "../model/errors.ts";
import {
  MAX_BUTTON_LABEL,
  MAX_POLL_OPTION,
  MAX_POLL_OPTIONS,
  MAX_POLL_QUESTION,
  MAX_THREAD_NAME,
  type OutgoingFile,
} from "../model/extras.ts";
import type { DeliveryId } from "../model/ids.ts";
import { allowsChannel, type Permissions } from "../model/permissions.ts";
import type { Tool, ToolContext } from "../model/tool.ts";
import { joinLabels, type Label, OWNERS } from "../model/trust.ts";
import { deriveUlid } from "../model/ulid.ts";
import type { NewDelivery } from "../store/store.ts";
import { asVoice, fitExtras, requireFiles } from "./fit-extras.ts";
import { type FileSource, filesParameter, type WantedFile } from "./outgoing-files.ts";
import { parseReply } from "./reply-tags.ts";

export const MAX_SENT_LENGTH = 100_000;
const MAX_NAME_LENGTH = 200;

const MAX_BUTTONS = 25;
const MAX_EMBED_TITLE = 200;
const MAX_EMBED_TEXT = 3_000;

/** It is written down; sending is the work of others. */
const WRITE_TIMEOUT_MS = 60_000;

export type SentMessage = NewDelivery & { readonly content: string };

interface MessageToolOptions {
  /** The outbox of the turn's run. One whose id is there already does nothing. */
  readonly add: (context: ToolContext, delivery: SentMessage) => Promise<void>;
  /** Whether a delivery is there already. */
  readonly has: (id: DeliveryId) => Promise<boolean>;
  /** The names of the channels that can send. */
  readonly channels: () => readonly string[];
  /** What a channel can send. Undefined: unknown channel. */
  readonly can: (channel: string) => OutletCan | undefined;
  readonly files: FileSource;
}

/** Ids of some platforms are numbers. */
const place = z.union([z.string().trim().min(1).max(MAX_NAME_LENGTH), z.int()]).transform(String);

const text = (maxLength: number) => z.string().trim().min(1).max(maxLength);

/** A command would be the owner's, whose finger presses it. */
const button = text(MAX_BUTTON_LABEL).refine((label) => !/^[/!]/.test(label), "Not a command");

const parameters = z.strictObject({
  channel: z.string().trim().min(1).max(MAX_NAME_LENGTH).describe("Such as telegram or webhook"),
  place: place.describe("Chat, channel or target on it"),
  topic: place.optional().describe("Thread or topic in the place"),
  content: z.string().max(MAX_SENT_LENGTH).default("").describe("Markdown"),
  files: filesParameter.optional(),
  buttons: z.array(button).min(1).max(MAX_BUTTONS).optional().describe("Pressing one sends its label"),
  poll: z
    .strictObject({
      question: text(MAX_POLL_QUESTION),
      options: z.array(text(MAX_POLL_OPTION)).min(2).max(MAX_POLL_OPTIONS),
    })
    .optional(),
  embed: z
    .strictObject({ title: text(MAX_EMBED_TITLE).optional(), description: text(MAX_EMBED_TEXT).optional() })
    .optional()
    .describe("A framed block"),
  voice: z.boolean().optional().describe("Send audio files as voice notes"),
  startThread: text(MAX_THREAD_NAME).optional().describe("Name of a new thread for the message"),
});

type Params = z.output<typeof parameters>;

export function createMessageTool({ add, has, channels, can, files }: MessageToolOptions): Tool {
  return defineTool({
    name: "message",
    description:
      "Sends a message to a place on a channel right away, in addition to this turn's answer. Do not use it to reply " +
      "to the sender: the answer is delivered automatically, with files from `attach`.",
    parameters,
    writes: true,
    // The id is made from the call: the same call again adds nothing.
    repeatable: true,
    timeoutMs: WRITE_TIMEOUT_MS,
    trust: { outward: true },
    says: ({ files: wanted = [] }) => (wanted.length === 0 ? { kind: "text" } : undefined),
    sends: ({ files: wanted = [] }, context) => labelOf(wanted, files, context),
    async proposal({ files: wanted = [] }, context) {
      if (wanted.length === 0) return undefined;
      return { files: await Promise.all(wanted.map((file) => files.digest(file, context))) };
    },
    // Which channels there are, and which files.
    errorTrust: { private: true },
    async run(params, context) {
      const { channel, topic } = params;
      checkChannel(channel, channels(), context.permissions);
      const reply = parseReply(params.content);
      checkMessage(params, reply);
      const shown = can(channel) ?? TEXT_ONLY;
      const fitted = fitExtras({ ...params, content: reply.text }, shown);
      const id = deriveUlid(context.turn, context.callKey) as DeliveryId;
      const isVoice = params.voice === true || reply.voice;
      const voiceNotes =
        isVoice && !shown.voice ? [`${channel} has no voice notes: audio is sent as a file.`] : [];
      const text = [
        `Message to ${JSON.stringify(params.place)} on ${channel} queued as delivery ${id}.`,
        ...fitted.notes,
        ...voiceNotes,
      ].join(" ");
      if (await has(id)) return { text, details: { delivery: id } }; // its files may be gone by now
      const kept = await keepAll(params, { isVoice: isVoice && shown.voice, can: shown, files }, context);
      const extras = { ...fitted.extras, ...(kept.length === 0 ? {} : { files: kept }) };
      await add(context, {
        id,
        target: { channel, place: params.place, ...(topic === undefined ? {} : { topic }) },
        ...(typeof reply.replyTo === "object" ? { replyTo: reply.replyTo.id } : {}),
        content: fitted.content,
        ...(Object.keys(extras).length === 0 ? {} : { extras }),
      });
      return { text, details: { delivery: id } };
    },
  });
}

async function labelOf(
  wanted: readonly WantedFile[],
  files: FileSource,
  context: ToolContext,
): Promise<Label | undefined> {
  const labels = await Promise.all(wanted.map((file) => files.label(file, context)));
  return labels.length === 0 ? undefined : joinLabels(...labels.map((label) => label ?? OWNERS));
}

interface Keeping {
  readonly isVoice: boolean;
  readonly can: OutletCan;
  readonly files: FileSource;
}

/** The files are on disk before the delivery names them. */
async function keepAll(
  { channel, files: wanted = [] }: Params,
  { isVoice, can, files }: Keeping,
  context: ToolContext,
): Promise<readonly OutgoingFile[]> {
  if (wanted.length === 0) return [];
  const { maxBytes } = requireFiles(channel, can);
  const kept: OutgoingFile[] = [];
  for (const file of wanted) kept.push(await files.keep(file, context, { channel, maxBytes }));
  return isVoice ? kept.map(asVoice) : kept;
}

function checkMessage(params: Params, reply: ReturnType<typeof parseReply>): void {
  const { files = [], poll, embed, topic, startThread, buttons, voice } = params;
  const isBlank = reply.text.trim() === "";
  const hasMore = files.length > 0 || poll !== undefined || embed !== undefined;
  if (reply.silent && (!isBlank || !hasMore)) throw nothingToSend();
  if (embed !== undefined && embed.title === undefined && embed.description === undefined)
    throw misfit("The embed is empty", "Give it a title or a description.");
  if (buttons !== undefined && isBlank) throw misfit("Buttons need a text", "Add `content`.");
  if (voice === true && files.length === 0)
    throw misfit("There is no audio to send as a voice note", "Add an audio file to `files`.");
  if (topic !== undefined && startThread !== undefined)
    throw misfit("A message is sent to a topic or to a new thread, not to both", "Leave one out.");
}

function misfit(message: string, hint: string): CortexError {
  return new CortexError("tool_input_invalid", message, { hint: `Nothing was sent. ${hint}` });
}

function checkChannel(channel: string, known: readonly string[], permissions: Permissions): void {
  if (!allowsChannel(permissions, channel))
    throw new CortexError(
      "delivery_refused",
      `This agent is not allowed to send to the channel "${channel}"`,
      {
        hint: "Allow it in the persona's `permissions.channels`. Ask the user if needed.",
      },
    );
  if (known.includes(channel)) return;
  const usable = known.filter((name) => allowsChannel(permissions, name));
  throw new CortexError("delivery_refused", `Unknown channel "${channel}"`, {
    hint: `Configured channels: ${usable.join(", ") || "none"}.`,
  });
}

function nothingToSend(): CortexError {
  return new CortexError("tool_input_invalid", "The message is empty", {
    hint: "Add text, or do not call `message`.",
  });
}
