import type { MessageId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Message, UserBody } from "../model/message.ts";
import type { QueueItem } from "../store/store.ts";
import { describeAttachments } from "./attachments.ts";
import { envelope } from "./envelope.ts";

/**
 * A queued message as a message of the turn. What was said stays word for word; all else is beside it. It is
 * made anew for each attempt, and is the same each time.
 */
export function toQuery(item: QueueItem, timezone: string): Message {
  const { id, event, dispatches, queuedAtMs } = item;
  const extracted = dispatches.map(({ context }) => readExtracted(context)).filter((text) => text !== "");
  const attachments = describeAttachments(event.attachments);
  const body: UserBody = {
    envelope: envelope(event, timezone),
    ...(extracted.length === 0 ? {} : { extracted: extracted.join("\n") }),
    ...(attachments === undefined ? {} : { attachments }),
  };
  const content = dispatches.find(({ message }) => message !== undefined)?.message ?? event.content ?? "";
  return { id: id as string as MessageId, role: "user", content, body, atMs: queuedAtMs };
}

/** What a hook gives along: an instruction, and what it found in the event. */
function readExtracted(context: Json | undefined): string {
  if (context === undefined || context === null || typeof context !== "object" || Array.isArray(context))
    return "";
  const { prompt, extracted } = context as { prompt?: Json; extracted?: Json };
  return [prompt, extracted]
    .filter((part) => part !== undefined && part !== null)
    .map((part) => (typeof part === "string" ? part : JSON.stringify(part)))
    .join("\n");
}
