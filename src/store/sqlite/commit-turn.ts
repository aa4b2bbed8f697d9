import type { Database } from "better-sqlite3";

import { prepareAborts } from "./abort.ts";
import { prepareRequests } from "./approval-requests.ts";
import { claimCodec, type ClaimRow, prepareClaims } from "./claim.ts";
import { prepareCountUsage, usedCodec } from "./count-usage.ts";
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
import { operation, Refusal } from "./operation.ts";
import { deliveryCodec, prepareInsertDeliveries } from "./insert-delivery.ts";
import { prepareReadJournal } from "./read-journal.ts";
import { prepareRecorder } from "./record-changes.ts";
import { prepareUnjudged } from "./unjudged.ts";
import { list, number, optional, record, text, textOf, textOrNull } from "./wire.ts";

/** The note that an aborted turn leaves with what works for it. */
const GIVER_ABORTED = "the turn that gave the work was aborted";

export interface FinishedRow {
  readonly next: ClaimRow | undefined;
}

/** The whole end of a turn in one operation: see `TurnStore.commit`. */
export const commitTurn = operation(
  record({
    lease: leaseCodec,
    run: text,
    turn: text,
    parent: textOrNull,
    status: textOf<NewTurn["status"]>(),
    facts: factsCodec,
    messages: list(messageCodec),
    used: usedCodec,
    toolCalls: list(toolCallCodec),
    answer: optional(eventCodec),
    judge: number,
    deliveries: list(deliveryCodec),
    timing: textOrNull,
    claim: optional(claimCodec),
  }),
  (db) => {
    const findHeld = prepareHeld(db);
    const isCommitted = prepareIsCommitted(db);
    const checkHead = prepareCheckHead(db);
    const readJournal = prepareReadJournal(db);
    const abortOpenCalls = db
      .prepare<[number, number, number], number>(
        `update tool_call set status = 'aborted', completed_ms = ?
         where key between ? and ? and status = 'started' returning key % 65536`,
      )
      .pluck();
    const { insertMessage, insertToolCall } = prepareContent(db);
    const insertTurn = prepareInsertTurn(db);
    const insertEvent = prepareInsertEvent(db);
    const unjudged = prepareUnjudged(db);
    const insertDeliveries = prepareInsertDeliveries(db);
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
    const claims = prepareClaims(db);
    const usage = prepareCountUsage(db);
    const changes = prepareRecorder(db);

    return (input, moment): FinishedRow | Refusal => {
      const { nowMs, wake } = moment;
      const held = findHeld(input.lease, input.run);
      if (held instanceof Refusal)
        return isCommitted(input.turn, input.run, input.lease.epoch) ? { next: undefined } : held;
      const refused = checkTurn(held, input.turn) ?? checkHead(held, input.parent);
      if (refused !== undefined) return refused;

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

      insertTurn(
        held,
        {
          key: held.turn,
          id: input.turn,
          type: "normal",
          status: input.status,
          firstKept: null,
          source: held.source,
          run: held.run,
          facts: input.facts,
          startedMs: held.started_ms,
        },
        { messages, toolCalls },
        nowMs,
      );
      const last = messages.findLastIndex(({ role }) => role === "assistant");
      const answer = last === -1 ? null : base + last;
      if (input.answer !== undefined) {
        const event = insertEvent(input.answer, nowMs, { source: held.source, message: answer });
        if (input.judge !== 0) unjudged.add(event, { wake });
      }
      insertDeliveries(input.deliveries, { turn: held.turn, message: answer }, nowMs);
      settleItem.run(nowMs, held.item);
      changes.item(held.item!, "done");
      if (held.merged > 0) for (const item of settleMerged.all(nowMs, held.key)) changes.item(item, "merged");
      requests.takeBack(input.turn);
      if (input.status === "aborted") aborts.cancelGiven(held.turn, GIVER_ABORTED, moment);
      endRun.run(input.status, nowMs, held.epoch, input.timing, held.run);
      changes.run(held.run, input.status);
      const { key, epoch } = held;
      const label = input.lease.session;
      const session = { key, label, epoch, head: held.turn, head_id: input.turn, run: null, ready_ms: null };
      const next = claims.finish(session, input.claim, nowMs);
      wake("queue");
      if (input.deliveries.length > 0) wake("outbox");
      return { next };
    };
  },
);

const NOTHING = { messages: [] as MessageInput[], toolCalls: [] as ToolCallInput[] };

/** A call that comes again after its outcome got lost must find that it has been done. */
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
