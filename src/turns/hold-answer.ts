/**
 * Whether an answer may be sent to those whom its turn speaks to. If they may not know all that the conversation holds, it
 * waits for the owner: the turn is committed, and the commit asks.
 */
import { createHash } from "node:crypto";

import { isOutside } from "../model/audience.ts";
import { HOUR_MS } from "../model/durations.ts";
import type { ApprovalId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { mayTell, readTrust } from "../model/trust.ts";
import type { NewDelivery, NewTurn, QueueItem } from "../store/store.ts";
import { audienceOfTurn } from "./audience.ts";
import type { RunWork } from "./prepare.ts";
import { withContext } from "./request-context.ts";
import type { TurnPorts } from "./turn-ports.ts";

/** How long an answer waits for a person. */
const ANSWER_MS = 24 * HOUR_MS;

/** As a request calls it, where other requests have the name of a tool. */
const ANSWER_REQUEST = "answer";

/** How much of an answer its request holds. All of it is in the turn, and the digest covers all of it. */
const MAX_ASKED_LENGTH = 1_000_000;

interface WaitingAnswer {
  readonly text: string;
  readonly deliveries: readonly NewDelivery[];
  /** Its sender gets the notices. */
  readonly answered: QueueItem;
  /** False: too many requests for the same person are open already. */
  readonly mayAsk: () => Promise<boolean>;
  readonly noticesTo: (text: string) => readonly (NewDelivery & { readonly content: string })[];
}

export async function sendOrHold(
  { text, deliveries, answered, mayAsk, noticesTo }: WaitingAnswer,
  work: Pick<RunWork, "claim" | "setup" | "folders" | "items">,
  { store, mintId, clock, redact }: Pick<TurnPorts, "store" | "mintId" | "clock" | "redact">,
): Promise<Pick<NewTurn, "deliveries" | "held">> {
  const audience = audienceOfTurn(work.items);
  const [delivery] = deliveries;
  if (delivery === undefined || !isOutside(audience)) return { deliveries };
  const session = await store.sessions.get(work.claim.lease.session);
  const trust = readTrust(session?.settings ?? {});
  if (mayTell(trust, audience)) return { deliveries };
  if (!(await mayAsk())) return { deliveries: noticesTo(TOO_MANY_WAIT) };
  const said = redact(delivery.content ?? text);
  const isLong = said.length > MAX_ASKED_LENGTH;
  const others = trust.private.filter((reader) => reader !== audience);
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
      request: await withContext(asked, answered, work, store),
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
