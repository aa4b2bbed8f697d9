/**
 * Whether an answer, of a turn or at the end of a relay, may be sent to those who read it. If they may not know all that
 * it may hold, it waits for the owner: what it answers is committed, and the commit asks.
 */
import { createHash } from "node:crypto";

import { isOutside } from "../model/audience.ts";
import { HOUR_MS } from "../model/durations.ts";
import type { ApprovalId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { type Label, mayTell } from "../model/trust.ts";
import type { NewApproval, NewDelivery, NewTurn } from "../store/store.ts";
import type { TurnPorts } from "./turn-ports.ts";

/** How long an answer waits for a person. */
const ANSWER_MS = 24 * HOUR_MS;

/** As a request calls it, where other requests have the name of a tool. */
const ANSWER_REQUEST = "answer";

/** How much of an answer its request holds. All of it is in the turn, and the digest covers all of it. */
const MAX_ASKED_LENGTH = 1_000_000;

type Notice = NewDelivery & { readonly content: string };

interface WaitingAnswer<Delivery extends NewDelivery> {
  readonly text: string;
  readonly deliveries: readonly Delivery[];
  /** Who reads it. */
  readonly audience: string;
  /** Of what it may hold. */
  readonly readLabel: () => Promise<Label>;
  /** False: too many requests for the same person are open already. */
  readonly mayAsk: () => Promise<boolean>;
  /** Its reader gets the notices. */
  readonly noticesTo: (text: string) => readonly Notice[];
  /** Adds what a person has to know to decide. */
  readonly inContext: (request: NewApproval) => Promise<NewApproval>;
}

/** Whether an answer with this label waits for the owner before these readers get it. */
export function isHeld(label: Label, audience: string): boolean {
  return isOutside(audience) && !mayTell(label, audience);
}

export async function sendOrHold<Delivery extends NewDelivery>(
  { text, deliveries, audience, readLabel, mayAsk, noticesTo, inContext }: WaitingAnswer<Delivery>,
  { mintId, clock, redact }: Pick<TurnPorts, "mintId" | "clock" | "redact">,
): Promise<Pick<NewTurn, "held"> & { readonly deliveries: readonly (Delivery | Notice)[] }> {
  const [delivery] = deliveries;
  if (delivery === undefined || !isOutside(audience)) return { deliveries };
  const label = await readLabel();
  if (!isHeld(label, audience)) return { deliveries };
  if (!(await mayAsk())) return { deliveries: noticesTo(TOO_MANY_WAIT) };
  const said = redact(delivery.content ?? text);
  const isLong = said.length > MAX_ASKED_LENGTH;
  const others = label.private.filter((reader) => reader !== audience);
  const request = {
    tool: ANSWER_REQUEST,
    args: {
      to: { ...delivery.target },
      text: isLong ? said.slice(0, MAX_ASKED_LENGTH).toWellFormed() : said,
      ...(isLong ? { sha256: createHash("sha256").update(said).digest("hex") } : {}),
    },
    reason: `this conversation contains data that is private to ${others.join(", ")}, and ${audience} would read the answer`,
  };
  const asked = {
    id: mintId() as ApprovalId,
    kind: "approval",
    callHash: "",
    request: request as Json,
    expiresAtMs: clock() + ANSWER_MS,
  } as const;
  return {
    deliveries: noticesTo(WAITS),
    held: {
      request: await inContext(asked),
      deliveries,
      refused: noticesTo(REFUSED),
    },
  };
}

/** They say nothing of what the answer holds. */
const WAITS = "The answer to your message waits for the owner's approval.";
const TOO_MANY_WAIT =
  "The answer to your message is withheld: too many of your requests already wait for the owner (limit `people.openApprovals`).";
const REFUSED = "The owner did not approve the answer to your message.";
