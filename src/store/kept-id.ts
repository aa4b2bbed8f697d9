/**
 * Ids and names are stored as they are, because rows are found by them. So none may hold a secret: an id from outside is
 * stored as its digest, and a chosen name is refused.
 */
import { createHash } from "node:crypto";

import { CortexError } from "../model/errors.ts";
import { splitEventId } from "../model/event.ts";
import type { EventId } from "../model/ids.ts";

/** The same key always has the same digest, so that what is repeated is recognized. */
function digestOfKey(key: string): string {
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

/** Keeps the adapter, by which events are told apart. */
export function digestedEventId(id: EventId): EventId {
  return `${splitEventId(id).adapter}:${digestOfKey(id)}` as EventId;
}

interface Secrets {
  readonly holdsSecret: (text: string) => boolean;
}

/** Throws `request_invalid`, without the value. */
export function refuseSecretName(what: string, name: string | undefined, { holdsSecret }: Secrets): void {
  if (name === undefined || !holdsSecret(name)) return;
  throw new CortexError("request_invalid", `The ${what} contains the value of a secret`, {
    hint: "Names are stored as they are, and shown. Choose another.",
  });
}

/** As it is stored: itself, or its digest if it holds a secret. */
export function keptKey(key: string, { holdsSecret }: Secrets): string {
  return holdsSecret(key) ? digestOfKey(key) : key;
}
