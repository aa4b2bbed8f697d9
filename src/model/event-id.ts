/** The id of an event is made of its adapter and of what makes it the same event when it comes a second time. */
import { createHash } from "node:crypto";

import { CortexError } from "./errors.ts";
import { isAdapter } from "./event.ts";
import type { EventId } from "./ids.ts";
import { canonicalJson, type Json } from "./json.ts";

export const MAX_SOURCE_ID_LENGTH = 512;

/** What makes an event the same event when it comes a second time. */
export type EventSource =
  /** All that makes a message unique on its platform: account, chat, message, edit stamp. */
  | { readonly kind: "id"; readonly sourceId: string }
  /** For platforms that give no id. */
  | { readonly kind: "content"; readonly timestampMs: number; readonly payload: Json }
  | {
      readonly kind: "file";
      readonly path: string;
      readonly modifiedMs: number;
      readonly change: string;
      readonly sha256: string;
    }
  | { readonly kind: "minute"; readonly atMs: number };

/** The deterministic id of an event: the same thing that happened always has the same id. */
export function eventId(adapter: string, source: EventSource): EventId {
  if (!isAdapter(adapter)) throw adapterInvalid(adapter);
  return `${adapter}:${sourceIdOf(source)}` as EventId;
}

function sourceIdOf(source: EventSource): string {
  switch (source.kind) {
    case "id":
      return checkSourceId(source.sourceId);
    case "content":
      return `sha256:${digest(String(source.timestampMs) + canonicalJson(source.payload))}`;
    case "file":
      return `sha256:${digest(canonicalJson([source.path, source.modifiedMs, source.change, source.sha256]))}`;
    case "minute":
      return new Date(Math.floor(source.atMs / 60_000) * 60_000).toISOString().slice(0, 16) + "Z";
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function checkSourceId(sourceId: string): string {
  if (sourceId.length > 0 && sourceId.length <= MAX_SOURCE_ID_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(sourceId))
    return sourceId;
  throw new CortexError("event_invalid", `Invalid source id ${JSON.stringify(sourceId.slice(0, 80))}`, {
    hint: `A source id has 1 to ${MAX_SOURCE_ID_LENGTH} printable characters.`,
  });
}

function adapterInvalid(adapter: string): CortexError {
  return new CortexError("event_invalid", `Invalid adapter name ${JSON.stringify(adapter.slice(0, 80))}`, {
    hint: "An adapter name has 1 to 64 lowercase letters, digits, dots, - and _.",
  });
}
