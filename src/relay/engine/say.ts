/** A message from a person to a relay: the answer it waits for, or input for its next step. */
import { CortexError } from "../../model/errors.ts";
import type { EventId, RelayId } from "../../model/ids.ts";
import { OWNER_CALLER } from "../../model/scopes.ts";
import { type KeptRelay, readRelay, unknownRelay, updateRelay } from "../record/kept-relay.ts";
import { addPending, pendingOf } from "../record/pending-messages.ts";
import { isTerminal, type RelayRecord } from "../record/record.ts";
import type { Approval, Store } from "../../store/store.ts";
import { answererFor, decide } from "../../intake/approvals.ts";
import type { RelaySaid, RelaySender } from "../relays.ts";

/** How many buffered messages are remembered. */
const MAX_REMEMBERED = 100;

export async function sayTo(
  id: RelayId,
  text: string,
  { event, caller = OWNER_CALLER }: RelaySender = {},
  { store }: { readonly store: Pick<Store, "relays" | "approvals" | "sessions"> },
): Promise<RelaySaid> {
  const relay = await readRelay(id, store);
  if (relay === undefined) throw unknownRelay(id);
  const question = wasSaid(relay, event) ? undefined : await findQuestion(relay, event, store);
  if (question !== undefined) {
    const { state, answer } = question;
    if (state === "answered" && answer?.kind === "answer" && answer.text !== text)
      throw otherAnswer(question);
    try {
      const decision = { kind: "answer", text, ...(event === undefined ? {} : { event }) } as const;
      await decide(question.id, decision, answererFor(caller), store);
      return { ...countOf(relay.record), answered: question.id };
    } catch (error) {
      // Someone else answered first, so this message is for the next step.
      if (!(error instanceof CortexError && error.code === "state_conflict")) throw error;
    }
  }
  const record = await updateRelay(id, store, (kept) => {
    if (wasSaid(kept, event)) return undefined;
    if (isTerminal(kept.record) || kept.record.ending !== null) throw isOver(kept.record);
    const said =
      event === undefined ? kept.detail.said : [...(kept.detail.said ?? []), event].slice(-MAX_REMEMBERED);
    return {
      record: addPending(kept.record, text),
      due: kept.isDue,
      ...(said === undefined ? {} : { detail: { ...kept.detail, said } }),
    };
  });
  return { ...countOf(record ?? relay.record), answered: null };
}

function wasSaid({ detail }: Pick<KeptRelay, "detail">, event: EventId | undefined): boolean {
  return event !== undefined && detail.said?.includes(event) === true;
}

/** The open question of a step, or the question that this same message already answered. */
async function findQuestion(
  { rows }: KeptRelay,
  event: EventId | undefined,
  { approvals }: Pick<Store, "approvals">,
): Promise<Approval | undefined> {
  const sessions = new Set(
    rows.flatMap(({ session, state }) => (state === "running" && session !== undefined ? [session] : [])),
  );
  for (const session of sessions) {
    const { items } = await approvals.list({ session });
    const found = items.find(
      ({ kind, state, answer }) =>
        kind === "question" &&
        (state === "open" || (event !== undefined && answer?.kind === "answer" && answer.event === event)),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

function otherAnswer({ id }: Approval): CortexError {
  return new CortexError(
    "idempotency_conflict",
    `The idempotency key was already used for a different answer to question ${id}`,
    { hint: "Use a new idempotencyKey for another message." },
  );
}

function countOf(record: RelayRecord): { readonly buffered: number; readonly dropped: number } {
  const { messages, dropped } = pendingOf(record);
  return { buffered: messages.length, dropped };
}

function isOver({ id, status, ending }: RelayRecord): CortexError {
  const state = isTerminal({ status }) || ending === null ? status : "ending";
  return new CortexError("state_conflict", `Relay ${id} is ${state} and accepts no more messages`, {
    hint: `Continue it with another agent: \`cortex relay add ${id} <agent> <message>\`, or \`!thread add\` in its chat.`,
  });
}
