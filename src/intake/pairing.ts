/** Strangers in a direct message get a code, once an hour, which the owner can let them in by. Nothing else is done for them. */
import { randomInt } from "node:crypto";

import type { Conversation } from "../config/channel-accounts.ts";
import { HOUR_MS } from "../model/durations.ts";
import { isJsonObject } from "../model/json.ts";
import type { DeliveryId } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { identityOf, isIdentity } from "../model/principal.ts";
import { createUlidSource, deriveUlid } from "../model/ulid.ts";
import { truncate } from "../model/truncate.ts";
import type { NewEvent } from "../store/store.ts";
import type { Intake } from "./intake.ts";

const PAIRING_MS = HOUR_MS;
const CODE_LENGTH = 8;
/** Without 0 and 1, which look like letters. */
const SYMBOLS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789";
const MAX_NAME_LENGTH = 100;

export async function offerPairing(
  event: NewEvent,
  { unknown }: Conversation,
  { store, clock }: Intake,
): Promise<void> {
  const { direction, channel, account, sender, place, topic, placeKind, metadata } = event;
  if (unknown !== "pair" || direction !== "received" || placeKind !== "dm") return;
  if (sender === undefined || place === undefined) return;
  const known = isJsonObject(metadata) ? metadata : {};
  const identity = identityOf({ channel, account, sender });
  if (known["is_bot"] === true || !isIdentity(identity)) return;
  const name = typeof known["sender_name"] === "string" ? known["sender_name"] : sender;
  const target = present({ channel, account, place, topic });
  const offered = await store.pairings.offer({
    identity,
    name: truncate(name, MAX_NAME_LENGTH),
    target,
    code: createCode(),
    expiresAtMs: clock() + PAIRING_MS,
  });
  if (offered === undefined) return;
  // The same for the same code, so that it is told once, whatever happens in between.
  const id = deriveUlid(createUlidSource(() => 0)(), `pairing/${offered.code}`) as DeliveryId;
  await store.outbox.notify({ id, target, content: invitation(offered.code) });
}

function createCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => SYMBOLS[randomInt(SYMBOLS.length)]).join("");
}

/** The code stands alone on its line, so that it can be copied. */
function invitation(code: string): string {
  return `I do not know you yet, so I cannot answer. Give this code to my owner:\n\n${code}\n\nIt is valid for an hour.`;
}
