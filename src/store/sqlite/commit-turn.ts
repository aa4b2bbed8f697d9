import type { Database } from "better-sqlite3";

import type { TurnId } from "../../model/ids.ts";
import { prepareAborts } from "./abort.ts";
import { prepareRequests, heldCodec } from "./approval-requests.ts";
import { claimCodec, type ClaimRow, prepareClaims } from "./claim.ts";
import { prepareCountUsage, usedCodec } from "./count-usage.ts";
import { prepareBindDraft } from "./drafts.ts";
import { type Held, leaseCodec, prepareHeld } from "./held.ts";
import { eventCodec, prepareInsertEvent } from "./insert-event.ts";
import { factsCodec, prepareInsertTurn } from "./insert-turn.ts";
import {
  messageCodec,
  type MessageInput,
  prepareContent,
  toolCallCodec,
  type ToolCallInput,
} from "./journal.ts";
import { firstKey, lastKey } from "./keys.ts";
import { MAX_MESSAGES_IN_TURN, type NewTurn } from "../store.ts";
import { type OperationTime, operation, Refusal } from "./operation.ts";
import { deliveryCodec, prepareInsertDeliveries } from "./insert-delivery.ts";
import { prepareReadJournal } from "./read-journal.ts";
import { prepareRecorder } from "./record-changes.ts";
import { prepareUnjudged } from "./unjudged.ts";
import { type Decoded, list, number, optional, record, text, textOf, textOrNull } from "./wire.ts";

/** The reason that an aborted turn gives the work it has delegated. */
const CALLER_ABORTED = "the delegating turn was aborted";

export interface FinishedRow {
  readonly next: ClaimRow | undefined;
}

const commitCodec = record({
  lease: leaseCodec,
  run: text,
  turn: textOf<TurnId>(),
  parent: textOrNull,
  status: textOf<NewTurn["status"]>(),
  facts: factsCodec,
  messages: list(messageCodec),
  used: usedCodec,
  toolCalls: list(toolCallCodec),
  answer: optional(eventCodec),
  judge: number,
  deliveries: list(deliveryCodec),
  held: optional(heldCodec),
  timing: textOrNull,
  claim: optional(claimCodec),
});

type CommitInput = Decoded<typeof commitCodec>;

/** The whole end of a turn in one operation: see `TurnStore.commit`. */
export const commitTurn = operation(commitCodec, (db) => {
  const findHeld = prepareHeld(db);
  const isCommitted = prepareIsCommitted(db);
  const checkHead = prepareCheckHead(db);
  const completeJournal = prepareCompleteJournal(db);
  const insertTurn = prepareInsertTurn(db);
  const publish = preparePublish(db);
  const settle = prepareSettle(db);
  const requests = prepareRequests(db);
  const claims = prepareClaims(db);

  return (input, moment): FinishedRow | Refusal => {
    const held = findHeld(input.lease, input.run);
    if (held instanceof Refusal)
      return isCommitted(input.turn, input.run, input.lease.epoch) ? { next: undefined } : held;
    const refused = checkTurn(held, input.turn) ?? checkHead(held, input.parent);
    if (refused !== undefined) return refused;
    const content = completeJournal(held, input, moment.nowMs);
    if (content instanceof Refusal) return content;

    const { turn: id, status, facts } = input;
    const { turn: key, source, run, started_ms: startedMs } = held;
    const turn = { key, id, type: "normal", status, firstKept: null, source, run, facts, startedMs } as const;
    insertTurn(held, turn, content, moment.nowMs);
    const message = publish(held, input, content.messages, moment);
    settle(held, input, moment);
    if (input.held !== undefined) {
      const { request, deliveries: approved, refused } = input.held;
      requests.hold(request, { message, approved, refused }, held, moment);
    }
    const session = {
      key: held.key,
      label: input.lease.session,
      epoch: held.epoch,
      head: key,
      head_id: id,
      run: null,
      ready_ms: null,
      lane: null,
    };
    const next = claims.finish(session, input.claim, moment.nowMs);
    moment.wake("queue");
    return { next };
  };
});

interface TurnContent {
  readonly messages: readonly MessageInput[];
  readonly toolCalls: readonly ToolCallInput[];
}

const NOTHING: TurnContent = { messages: [], toolCalls: [] };

/** Writes what the journal lacks, and returns the whole content of the turn. Refuses before it inserts. */
function prepareCompleteJournal(db: Database) {
  const readJournal = prepareReadJournal(db);
  const abortOpenCalls = db
    .prepare<[number, number, number], number>(
      `update tool_call set status = 'aborted', completed_ms = ?
       where key between ? and ? and status = 'started' returning key % 65536`,
    )
    .pluck();
  const { insertMessage, insertToolCall } = prepareContent(db);
  const usage = prepareCountUsage(db);
  const changes = prepareRecorder(db);

  return (held: Held, input: CommitInput, nowMs: number): TurnContent | Refusal => {
    const base = firstKey(held.turn);
    if (held.progress > 0) {
      for (const ordinal of abortOpenCalls.all(nowMs, base, lastKey(held.turn)))
        changes.call(held.run, ordinal, "aborted");
    }
    const before = held.progress > 0 ? readJournal(held.turn) : NOTHING;
    const messages = [...before.messages, ...input.messages];
    const toolCalls = [...before.toolCalls, ...input.toolCalls];
    const invalid = checkContent(input, messages, toolCalls);
    if (invalid !== undefined) return invalid;

    input.messages.forEach((message, i) => insertMessage(base + before.messages.length + i, message));
    changes.messages(held.run, before.messages.length, input.messages.length);
    usage.ofSession(held.key, input.used, nowMs);
    for (const call of input.toolCalls) {
      insertToolCall(base, call);
      changes.call(held.run, call.ordinal, call.status);
    }
    return { messages, toolCalls };
  };
}

/** Writes the event of the answer and the deliveries. Both refer to the last message of the assistant, which it returns. */
function preparePublish(db: Database) {
  const insertEvent = prepareInsertEvent(db);
  const unjudged = prepareUnjudged(db);
  const insertDeliveries = prepareInsertDeliveries(db);
  const bindDraft = prepareBindDraft(db);
  return (
    held: Held,
    input: CommitInput,
    messages: readonly MessageInput[],
    moment: OperationTime,
  ): number | null => {
    const { nowMs, wake } = moment;
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    const message = last === -1 ? null : firstKey(held.turn) + last;
    if (input.answer !== undefined) {
      const event = insertEvent(input.answer, nowMs, { source: held.source, message });
      if (input.judge !== 0) unjudged.add(event, moment);
    }
    insertDeliveries(input.deliveries, { turn: held.turn, message }, nowMs);
    for (const delivery of input.deliveries.toReversed()) bindDraft(delivery, held.turn);
    if (input.deliveries.length > 0) wake("outbox");
    return message;
  };
}

/** Ends the run, its items, its requests, and the work that an aborted turn has delegated. */
function prepareSettle(db: Database) {
  const settleItem = db.prepare("update item set state = 'done', settled_ms = ? where key = ?");
  const settleMerged = db
    .prepare<[number, number], number>(
      `update item set state = 'merged', settled_ms = ?
       where session = ? and settled_ms is null and state = 'claimed' returning key`,
    )
    .pluck();
  const endRun = db.prepare(
    "update run set state = ?, ended_ms = ?, ended_epoch = ?, timing = ? where key = ?",
  );
  const requests = prepareRequests(db);
  const aborts = prepareAborts(db);
  const changes = prepareRecorder(db);
  return (held: Held, { turn, status, timing }: CommitInput, moment: OperationTime): void => {
    const { nowMs } = moment;
    settleItem.run(nowMs, held.item);
    changes.item(held.item!, "done");
    if (held.merged > 0) for (const item of settleMerged.all(nowMs, held.key)) changes.item(item, "merged");
    requests.takeBack(turn, moment);
    if (status === "aborted") aborts.cancelGiven(held.turn, CALLER_ABORTED, moment);
    endRun.run(status, nowMs, held.epoch, timing, held.run);
    changes.run(held.run, status);
  };
}

/** A call repeated after its outcome was lost must find that it is done. */
function prepareIsCommitted(db: Database): (turn: string, run: string, epoch: number) => boolean {
  const find = db
    .prepare<[string, string, number], number>(
      "select 1 from turn t join run r on r.key = t.run where t.id = ? and r.id = ? and r.ended_epoch = ?",
    )
    .pluck();
  return (turn, run, epoch) => find.get(turn, run, epoch) !== undefined;
}

function checkTurn(held: Held, turn: string): Refusal | undefined {
  if (held.turn_id === turn) return undefined;
  return new Refusal(
    "turn_invalid",
    `Run ${held.run_id} belongs to turn ${held.turn_id}, not ${turn}`,
    "Commit the turn named by the claim.",
  );
}

function prepareCheckHead(db: Database): (held: Held, parent: string | null) => Refusal | undefined {
  const findTurn = db.prepare<[string], number>("select key from turn where id = ?").pluck();
  return (held, parent) => {
    if (held.head === held.parent && held.head_id === parent) return undefined;
    if (parent !== null && parent === held.turn_id) {
      return new Refusal(
        "turn_cyclic",
        `Turn ${parent} cannot follow itself`,
        "Use the parent named by the claim.",
      );
    }
    if (parent !== null && findTurn.get(parent) === undefined) {
      return new Refusal("turn_unknown", `Unknown turn "${parent}"`, "Use the parent named by the claim.");
    }
    return new Refusal(
      "head_moved",
      `The head of the session has moved: turn ${held.turn_id} was to follow ${parent ?? "no turn"}`,
      "Fail the run with a retry; the next attempt follows the new head.",
    );
  };
}

function checkContent(
  input: { readonly turn: string; readonly status: string },
  messages: readonly MessageInput[],
  toolCalls: readonly ToolCallInput[],
): Refusal | undefined {
  const last = messages.findLast((message) => message.role === "assistant");
  if (input.status === "completed" && last?.id !== input.turn) {
    return new Refusal(
      "turn_invalid",
      `The answer of turn ${input.turn} has the wrong id: ${last?.id ?? "no message"}`,
      "The last assistant message must have the id of its turn.",
    );
  }
  if (messages.length > MAX_MESSAGES_IN_TURN) {
    return new Refusal(
      "limit_invalid",
      `Turn ${input.turn} has ${messages.length} messages; the limit is ${MAX_MESSAGES_IN_TURN}`,
      "End the turn earlier.",
    );
  }
  const open = toolCalls.find(({ status }) => status === "started");
  if (open !== undefined) {
    return new Refusal(
      "turn_invalid",
      `Call ${open.callId} of turn ${input.turn} has no result`,
      "Record a result for every tool call of a turn.",
    );
  }
  const misplaced = toolCalls.findIndex((call, place) => call.ordinal !== place);
  if (misplaced === -1) return undefined;
  return new Refusal(
    "turn_invalid",
    `Tool call ${misplaced} of turn ${input.turn} is missing or duplicated`,
    "Number the tool calls of a turn from 0 without gaps.",
  );
}
