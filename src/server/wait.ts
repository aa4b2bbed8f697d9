import { CortexError } from "../model/errors.ts";
import type { ItemId } from "../model/ids.ts";
import type { Sent } from "../intake/messages.ts";
import type { Context } from "../feature/route.ts";

interface AcceptedReply {
  readonly eventId: string;
  readonly dispatchId: string;
  readonly session: string;
  readonly dropped?: string;
  readonly reply?: string;
}

interface AnsweredReply extends AcceptedReply {
  readonly turnId: string;
  readonly text: string;
  readonly costUsd: number | null;
  readonly aborted?: { readonly reason: string; readonly by: string | null };
}

type SentReply =
  | { readonly status: 202; readonly body: AcceptedReply }
  | { readonly status: 200; readonly body: AnsweredReply };

/**
 * Replies to a message that was sent: at once, or with what became of it. Whether somebody waits changes
 * nothing for the message, and neither does a client that goes away.
 */
export async function replyTo(
  sent: Sent,
  { wait, signal, reply }: { readonly wait: boolean; readonly signal: AbortSignal; readonly reply?: string },
  { cortex, closing, waitMs }: Context,
): Promise<SentReply> {
  const accepted = {
    eventId: sent.event,
    dispatchId: sent.dispatch,
    session: sent.session,
    ...(sent.dropped === undefined ? {} : { dropped: sent.dropped }),
    ...(reply === undefined ? {} : { reply }),
  };
  if (!wait) return { status: 202, body: accepted };
  const enough = AbortSignal.any([signal, closing, AbortSignal.timeout(waitMs)]);
  const outcome = await cortex.outcome(sent.item, enough);
  switch (outcome?.kind) {
    case undefined:
      return { status: 202, body: accepted };
    case "dropped":
      throw dropped(outcome.policy);
    case "dead":
      throw turnFailed(sent.item, outcome.error);
    case "turn": {
      const { turn, text, costUsd, aborted } = outcome;
      const answer = { turnId: turn, text, costUsd };
      const ended = aborted && { aborted: { reason: aborted.reason, by: aborted.by ?? null } };
      return { status: 200, body: { ...accepted, ...answer, ...ended } };
    }
  }
}

function dropped(policy: string): CortexError {
  return new CortexError("state_conflict", `The message was dropped by the policy "${policy}"`, {
    hint: "Send it again with a new idempotencyKey, or none.",
  });
}

function turnFailed(item: ItemId, error: string): CortexError {
  return new CortexError("turn_failed", `The turn failed: ${error}`, {
    hint: `It is kept as the dead letter ${item}: \`cortex dead retry ${item}\` tries it again.`,
  });
}
