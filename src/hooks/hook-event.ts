import { placeKindOf, splitEventId } from "../model/event.ts";
import { DEFAULT_ACCOUNT } from "../model/ids.ts";

import type { SessionKey } from "../model/session-key.ts";
import type { StoredEvent } from "../store/store.ts";
import type { HookEvent } from "./hook.ts";

/** The form of an event for hooks, with the names of the view `events`. */
export function toHookEvent(event: StoredEvent, target: SessionKey | undefined): HookEvent {
  const { adapter, sourceId } = splitEventId(event.id);
  return {
    id: event.id,
    timestamp: event.atMs,
    channel: event.channel,
    direction: event.direction,
    content: event.content,
    content_type: event.contentType ?? null,
    thread_id: threadId(event),
    sender_id: event.sender ?? null,
    account: event.account ?? null,
    place: event.place ?? null,
    topic: event.topic ?? null,
    place_kind: placeKindOf(event) ?? null,
    mentions_me: event.mentionsMe ?? null,
    reply_to: event.replyTo ?? null,
    message_id: event.messageId ?? null,
    about: event.about ?? null,
    metadata: event.metadata ?? {},
    payload: event.payload ?? null,
    attachments: event.attachments ?? [],
    source_adapter: adapter,
    source_id: sourceId,
    target: target === undefined ? null : { session: target },
  };
}

/** As in the view `threads`. */
function threadId({ channel, account = DEFAULT_ACCOUNT, place, topic }: StoredEvent): string | null {
  if (place === undefined) return null;
  const parts = topic === undefined ? [channel, account, place] : [channel, account, place, topic];
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join(":");
}
