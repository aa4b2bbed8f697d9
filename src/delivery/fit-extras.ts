/**
 * Fits what an agent wants to send to what the channel can send: what it lacks becomes text where that says the same, and
 * the agent is told. Nothing is left out silently, or the agent would believe that it was seen.
 */
import type { OutletCan } from "../channels/outlet.ts";
import { CortexError } from "../model/errors.ts";
import {
  type Button,
  type Embed,
  type Extras,
  MAX_BUTTON_BYTES,
  type OutgoingFile,
  type Poll,
  SAYS,
} from "../model/extras.ts";

interface Wanted {
  readonly channel: string;
  readonly content: string;
  readonly buttons?: readonly string[] | undefined;
  readonly embed?: Embed | undefined;
  readonly poll?: Poll | undefined;
  readonly startThread?: string | undefined;
}

interface Fitted {
  readonly content: string;
  readonly extras: Extras;
  /** What has become text: sentences for the agent. */
  readonly notes: readonly string[];
}

/** Throws `delivery_refused`. */
export function fitExtras(wanted: Wanted, can: OutletCan): Fitted {
  const { channel, content, buttons, embed, poll, startThread } = wanted;
  if (startThread !== undefined && !can.startThread) throw threadRefused(channel);
  const showsEmbed = can.embeds && content.trim() !== ""; // one without a text has nothing to stand below
  const texts = [content];
  const notes: string[] = [];
  const extras: { -readonly [Name in keyof Extras]: Extras[Name] } = {};
  if (startThread !== undefined) extras.thread = { name: startThread };
  if (embed !== undefined && showsEmbed) extras.embed = embed;
  if (embed !== undefined && !showsEmbed) {
    texts.push(embedText(embed));
    notes.push("The embed is shown as text.");
  }
  if (poll !== undefined && can.polls) extras.poll = poll;
  if (poll !== undefined && !can.polls) {
    texts.push(`**${poll.question}**\n\n${listed(poll.options)}`);
    notes.push(`${channel} has no polls: the options are a numbered list in the text.`);
  }
  if (buttons !== undefined && buttons.length <= can.buttons) extras.buttons = buttons.map(toButton);
  if (buttons !== undefined && buttons.length > can.buttons) {
    texts.push(listed(buttons));
    notes.push(
      can.buttons === 0
        ? `${channel} has no buttons: the choices are a numbered list in the text.`
        : `${channel} shows at most ${can.buttons} buttons: the choices are a numbered list in the text.`,
    );
  }
  return { content: texts.filter((text) => text.trim() !== "").join("\n\n"), extras, notes };
}

/** What is not audio stays what it is. */
export function asVoice(file: OutgoingFile): OutgoingFile {
  return file.contentType.startsWith("audio/") ? { ...file, voice: true } : file;
}

/** Throws `delivery_refused`. */
export function requireFiles(channel: string, { attach }: OutletCan): { readonly maxBytes: number } {
  if (attach !== undefined) return attach;
  throw new CortexError("delivery_refused", `The channel "${channel}" cannot send files`, {
    hint: "Nothing was sent. Put the content in the text, or say where the file is.",
  });
}

function threadRefused(channel: string): CortexError {
  return new CortexError("delivery_refused", `The channel "${channel}" cannot start threads`, {
    hint: "Nothing was sent. Send it without `startThread`.",
  });
}

function embedText({ title, description }: Embed): string {
  const parts = [
    ...(title === undefined ? [] : [`**${title}**`]),
    ...(description === undefined ? [] : [description.replaceAll(/^/gm, "> ")]),
  ];
  return parts.join("\n\n");
}

function listed(options: readonly string[]): string {
  return options.map((option, index) => `${index + 1}. ${option}`).join("\n");
}

/** Pressing it says its label, as far as a platform carries it. */
function toButton(label: string): Button {
  const characters = Array.from(label);
  while (Buffer.byteLength(SAYS + characters.join("")) > MAX_BUTTON_BYTES) characters.pop();
  return { label, data: SAYS + characters.join("") };
}
