/** The tool by which an agent writes to somebody at once, wherever they are, beside the answer of its turn. */
import { z } from "zod";

import { defineTool } from "../model/define-tool.ts";
import { CortexError } from "../model/errors.ts";
import type { DeliveryId } from "../model/ids.ts";
import { allowsChannel, type Permissions } from "../model/permissions.ts";
import type { Tool, ToolContext } from "../model/tool.ts";
import { deriveUlid } from "../model/ulid.ts";
import type { NewDelivery } from "../store/store.ts";
import { parseReply } from "./reply-tags.ts";

export const MAX_SENT_LENGTH = 100_000;
const MAX_NAME_LENGTH = 200;

/** It is written down; sending is the work of others. */
const WRITE_TIMEOUT_MS = 30_000;

export type SentMessage = NewDelivery & { readonly content: string };

interface MessageToolOptions {
  /** The outbox of the turn's run. One whose id is there already does nothing. */
  readonly add: (context: ToolContext, delivery: SentMessage) => Promise<void>;
  /** The names of the channels that can send. */
  readonly channels: () => readonly string[];
}

/** Ids of some platforms are numbers. */
const place = z.union([z.string().trim().min(1).max(MAX_NAME_LENGTH), z.int()]).transform(String);

/** What some platforms can show beside text. No channel says yet that it can. */
const EXTRAS = ["buttons", "poll", "embed", "voice"] as const;

const parameters = z.strictObject({
  channel: z.string().trim().min(1).max(MAX_NAME_LENGTH).describe("Such as telegram or webhook"),
  place: place.describe("Chat, channel or target on it"),
  topic: place.optional().describe("Thread or topic in the place"),
  content: z.string().min(1).max(MAX_SENT_LENGTH).describe("Markdown"),
  buttons: z.array(z.string().min(1)).optional().describe("If the channel supports them"),
  poll: z
    .strictObject({ question: z.string().min(1), options: z.array(z.string().min(1)).min(2) })
    .optional(),
  embed: z.strictObject({ title: z.string().optional(), description: z.string().optional() }).optional(),
  voice: z.boolean().optional().describe("Send as a voice note"),
});

export function createMessageTool({ add, channels }: MessageToolOptions): Tool {
  return defineTool({
    name: "message",
    description:
      "Sends a message to a place on a channel right away, in addition to this turn's answer. Do not use it to reply " +
      "to the sender: the answer is delivered automatically.",
    parameters,
    writes: true,
    // The id is made from the call: the same call again adds nothing.
    repeatable: true,
    timeoutMs: WRITE_TIMEOUT_MS,
    trust: { outward: true },
    says: () => ({ kind: "text" }),
    // Which channels there are.
    errorTrust: { private: true },
    async run(params, context) {
      const { channel, topic, content } = params;
      checkChannel(channel, channels(), context.permissions);
      const reply = parseReply(content);
      checkExtras({ ...params, voice: params.voice === true || reply.voice });
      if (reply.silent) throw nothingToSend();
      const id = deriveUlid(context.turn, context.callKey) as DeliveryId;
      await add(context, {
        id,
        target: { channel, place: params.place, ...(topic === undefined ? {} : { topic }) },
        ...(typeof reply.replyTo === "object" ? { replyTo: reply.replyTo.id } : {}),
        content: reply.text,
      });
      const text = `Message to ${JSON.stringify(params.place)} on ${channel} queued as delivery ${id}.`;
      return { text, details: { delivery: id } };
    },
  });
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

/** What cannot be shown is not left out silently: the agent would believe that it was seen. */
function checkExtras(params: z.output<typeof parameters>): void {
  const wanted = EXTRAS.filter((name) => params[name] !== undefined && params[name] !== false);
  if (wanted.length === 0) return;
  throw new CortexError(
    "delivery_refused",
    `Not supported on the channel "${params.channel}": ${wanted.join(", ")}`,
    { hint: "Nothing was sent. Put it in the text instead." },
  );
}

function nothingToSend(): CortexError {
  return new CortexError("tool_input_invalid", "The message is empty", {
    hint: "Add text, or do not call `message`.",
  });
}
