import type { Database } from "better-sqlite3";

import { claimCodec } from "./claim.ts";
import { cursorCodec, prepareSetCursor } from "./cursors.ts";
import { dispatchCodec, type DispatchedRow, prepareDispatch, WITHDRAWN } from "./dispatch.ts";
import { eventCodec, type EventInput, prepareInsertEvent } from "./insert-event.ts";
import { guestCodec, prepareCountGuest } from "./guests.ts";
import { deliveryCodec, prepareNotices } from "./insert-delivery.ts";
import { moveCodec, prepareMove } from "./moves.ts";
import { type Lane, toLane } from "./lane.ts";
import { oncePerDatabase } from "./once.ts";
import { type OperationTime, operation, Refusal } from "./operation.ts";
import { prepareUnjudged } from "./unjudged.ts";
import { prepareWaiting } from "./waiting.ts";
import { type Decoded, list, number, optional, record, text, textOrNull, words } from "./wire.ts";

interface Known {
  readonly seq: number;
  readonly content: string | null;
  readonly payload: string | null;
  readonly pruned_ms: number | null;
}

export interface AcceptedRow {
  readonly fresh: boolean;
  /** It was counted instead of stored. */
  readonly unkept?: true;
  readonly dispatched: DispatchedRow | undefined;
}

const acceptCodec = record({
  event: eventCodec,
  dispatch: optional(dispatchCodec),
  claim: optional(claimCodec),
  judge: number,
  revises: optional(record({ event: text, message: words })),
  notices: list(deliveryCodec),
  moves: optional(moveCodec),
  withdraws: textOrNull,
  cursor: optional(cursorCodec),
  guest: optional(guestCodec),
});

type EventWithDispatch = Omit<
  Decoded<typeof acceptCodec>,
  "cursor" | "guest" | "revises" | "notices" | "moves" | "withdraws"
> &
  Partial<Pick<Decoded<typeof acceptCodec>, "revises" | "withdraws">>;

/** Accepts an event once, with its dispatch in the same commit. */
export const prepareAccept = oncePerDatabase((db: Database) => {
  const find = db.prepare<[string], Known>("select seq, content, payload, pruned_ms from event where id = ?");
  const noteDiffering = db.prepare("update event set differing = differing + 1 where seq = ?");
  const insertEvent = prepareInsertEvent(db);
  const dispatchEvent = prepareDispatch(db);
  const unjudged = prepareUnjudged(db);
  const revise = prepareRevise(db);
  const withdraw = prepareWithdraw(db);

  return (input: EventWithDispatch, moment: OperationTime): AcceptedRow | Refusal => {
    const known = find.get(input.event.id);
    const seq = known?.seq ?? insertEvent(input.event, moment.nowMs);
    if (known !== undefined && differs(known, input.event)) noteDiffering.run(seq);
    if (known === undefined && input.judge !== 0) unjudged.add(seq, moment);
    const isRevised = known === undefined && input.revises !== undefined && revise(input.revises);
    const isWithdrawn =
      known === undefined && typeof input.withdraws === "string" && withdraw(input.withdraws, moment.nowMs);
    if (input.dispatch === undefined || isRevised || isWithdrawn)
      return { fresh: known === undefined, dispatched: undefined };
    const dispatched = dispatchEvent(
      { seq, channel: input.event.channel, fresh: known === undefined, ...laneKnownOf(input.event) },
      input.dispatch,
      input.claim,
      moment,
    );
    if (dispatched instanceof Refusal) return dispatched;
    return { fresh: known === undefined, dispatched };
  };
});

/** Replaces the text of a message that still waits in all its sessions. False: it waits nowhere. */
function prepareRevise(db: Database) {
  const revise = db.prepare(
    `update dispatch set message = @message
     where event = (select seq from event where id = @event)
       and item in (select key from item where state = 'queued' and settled_ms is null and turn is null)`,
  );
  return (revision: { readonly event: string; readonly message: string }): boolean =>
    revise.run(revision).changes > 0;
}

/** Drops a message that its sender has deleted, in all sessions where it waits. False: it waits nowhere. */
function prepareWithdraw(db: Database) {
  const find = db.prepare<[string], { key: number; session: number }>(
    `select i.key, i.session from item i
     where i.event = (select seq from event where id = ?) and i.state = 'queued' and i.settled_ms is null
       and i.turn is null`,
  );
  const waiting = prepareWaiting(db);
  return (event: string, nowMs: number): boolean => {
    const items = find.all(event);
    for (const { key, session } of items) {
      waiting.dropItem(key, WITHDRAWN, nowMs);
      waiting.refreshReady(session, nowMs);
    }
    return items.length > 0;
  };
}

export const acceptEvent = operation(acceptCodec, prepareAcceptWith);

/** Accepts events in one commit, with the cursor of where they were read. */
export const acceptEvents = operation(
  record({ events: list(acceptCodec), cursor: optional(cursorCodec) }),
  (db) => {
    const accept = prepareAcceptWith(db);
    const setCursor = prepareSetCursor(db);
    return ({ events, cursor }, moment): AcceptedRow[] | Refusal => {
      const rows: AcceptedRow[] = [];
      for (const input of events) {
        const accepted = accept(input, moment);
        if (accepted instanceof Refusal) return accepted; // undoes those before it
        rows.push(accepted);
      }
      if (cursor !== undefined) setCursor(cursor);
      return rows;
    };
  },
);

/** Accepts an event with what is recorded beside it. */
function prepareAcceptWith(db: Database) {
  const accept = prepareAccept(db);
  const setCursor = prepareSetCursor(db);
  const isKnown = db.prepare<[string], number>("select 1 from event where id = ?").pluck();
  const countGuest = prepareCountGuest(db);
  const notify = prepareNotices(db);
  const move = prepareMove(db);
  return (input: Decoded<typeof acceptCodec>, moment: OperationTime): AcceptedRow | Refusal => {
    if (input.guest !== undefined && isKnown.get(input.event.id) === undefined) {
      const isKept = countGuest(input.guest, moment.nowMs);
      if (!isKept) return { fresh: true, unkept: true, dispatched: undefined };
    }
    const accepted = accept(input, moment);
    if (accepted instanceof Refusal) return accepted;
    if (accepted.fresh) {
      notify(input.notices, moment);
      if (input.moves !== undefined) move(input.event.id, input.moves);
    }
    if (input.cursor !== undefined) setCursor(input.cursor);
    return accepted;
  };
}

/** Most messages are the owner's, and say so. */
function laneKnownOf({ principal }: EventInput): { lane?: Lane } {
  return principal === null ? {} : { lane: toLane(principal) };
}

/** The content of a pruned event is no longer known. */
function differs(known: Known, event: EventInput): boolean {
  if (known.pruned_ms !== null) return false;
  return known.content !== event.content || known.payload !== event.payload;
}
