/**
 * The journal of a run. Its rows become the content of the turn: see schema.ts.
 */
import type { Database } from "better-sqlite3";

import type { MessageId } from "../../model/ids.ts";
import type { Role, ToolStatus } from "../../model/message.ts";
import { type Held, leaseCodec, prepareHeld } from "./held.ts";
import { prepareCountUsage, usedCodec } from "./count-usage.ts";
import { firstKey } from "./keys.ts";
import { operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import {
  type Decoded,
  json,
  jsonOrNull,
  list,
  number,
  numberOrNull,
  optional,
  realOrNull,
  record,
  text,
  textOf,
  textOrNull,
  words,
} from "./wire.ts";

export const messageCodec = record({
  id: textOf<MessageId>(),
  role: textOf<Role>(),
  content: words,
  body: jsonOrNull,
  atMs: number,
});

export type MessageInput = Decoded<typeof messageCodec>;

export const toolCallCodec = record({
  ordinal: number,
  callId: words,
  tool: words,
  params: json,
  status: textOf<ToolStatus>(),
  result: jsonOrNull,
  childSession: textOrNull,
  startedAtMs: number,
  completedAtMs: numberOrNull,
});

export type ToolCallInput = Decoded<typeof toolCallCodec>;

const resultCodec = record({
  ordinal: number,
  status: textOf<Exclude<ToolStatus, "started">>(),
  result: json,
  childSession: textOrNull,
  completedAtMs: number,
});

/** Exactly one of the three. */
export const entryCodec = record({
  message: optional(
    record({
      place: number,
      message: messageCodec,
      items: list(text),
      dispatches: numberOrNull,
      costUsd: realOrNull,
      used: usedCodec,
    }),
  ),
  call: optional(toolCallCodec),
  result: optional(resultCodec),
});

type EntryInput = Decoded<typeof entryCodec>;
type MessageEntry = NonNullable<EntryInput["message"]>;
type ResultInput = Decoded<typeof resultCodec>;

export const journal = operation(
  record({ lease: leaseCodec, run: text, entries: list(entryCodec) }),
  (db) => {
    const findHeld = prepareHeld(db);
    const write = prepareJournal(db);
    return ({ lease, run, entries }, { nowMs }) => {
      const held = findHeld(lease, run);
      if (held instanceof Refusal) return held;
      return write(held, entries, nowMs) ?? null;
    };
  },
);

export const pin = operation(record({ lease: leaseCodec, run: text, pinned: json }), (db) => {
  const findHeld = prepareHeld(db);
  const update = db.prepare("update run set pinned = ? where key = ?");
  return ({ lease, run, pinned }) => {
    const held = findHeld(lease, run);
    if (held instanceof Refusal) return held;
    update.run(pinned, held.run);
    return null;
  };
});

/** The run that writes to its journal. */
type Writing = Pick<Held, "key" | "run" | "turn" | "turn_id" | "abort">;

/** True: the entry was written. False: it was there already. */
type Written = boolean | Refusal;

/** Writes entries under the turn of a run; a refusal undoes them all. */
export function prepareJournal(
  db: Database,
): (run: Writing, entries: readonly EntryInput[], nowMs: number) => Refusal | undefined {
  const writeMessage = prepareWriteMessage(db);
  const calls = prepareWriteCalls(db);
  const addProgress = db.prepare(
    "update run set progress = progress + ?, merged = merged + ?, cost_usd = cost_usd + ? where key = ?",
  );
  const usage = prepareCountUsage(db);

  return (run, entries, nowMs) => {
    let written = 0;
    let merged = 0;
    let costUsd = 0;
    for (const entry of entries) {
      const outcome = writeEntry(run, entry);
      if (outcome instanceof Refusal) return outcome;
      if (!outcome) continue;
      written++;
      if (entry.message === undefined) continue;
      merged += entry.message.items.length;
      costUsd += entry.message.costUsd ?? 0;
      usage.ofSession(run.key, entry.message.used, nowMs);
    }
    if (written > 0) addProgress.run(written, merged, costUsd, run.run);
    return undefined;
  };

  function writeEntry(run: Writing, { message, call, result }: EntryInput): Written {
    if (message !== undefined) return writeMessage(run, message);
    return call === undefined ? calls.finish(run, required(result)) : calls.start(run, call);
  }
}

function prepareWriteMessage(db: Database): (run: Writing, entry: MessageEntry) => Written {
  const find = db.prepare<[number], MessageInput>(
    "select id, role, content, body, at_ms as atMs from message where key = ?",
  );
  const { insertMessage } = prepareContent(db);
  const taken = prepareTakenItems(db);
  const changes = prepareRecorder(db);

  return (run, { place, message, items, dispatches }) => {
    const key = firstKey(run.turn) + place;
    const there = find.get(key);
    if (there !== undefined) {
      const same = sameMessage(there, message) && taken.all(items, run.turn);
      return same ? false : conflict(`message ${place}`, message.id);
    }
    if (place > 0 && find.get(key - 1) === undefined) return gap(`message ${place}`);
    // A message that came after the abort, or caused it, must not become part of the aborted turn.
    if (run.abort !== null && !taken.all(items, run.turn)) return beingAborted(run.turn_id);
    const refused = taken.take(items, run, dispatches);
    if (refused !== undefined) return refused;
    insertMessage(key, message);
    changes.messages(run.run, place, 1);
    return true;
  };
}

function prepareWriteCalls(db: Database) {
  const find = db.prepare<[number], { call_id: string; status: string; result: string | null }>(
    "select call_id, status, result from tool_call where key = ?",
  );
  const update = db.prepare(
    "update tool_call set status = ?, result = ?, child_session = ?, completed_ms = ? where key = ?",
  );
  const { insertToolCall } = prepareContent(db);
  const changes = prepareRecorder(db);
  return {
    start(run: Writing, call: ToolCallInput): Written {
      const { ordinal, callId } = call;
      const base = firstKey(run.turn);
      const there = find.get(base + ordinal);
      if (there !== undefined) return there.call_id === callId ? false : conflict(`call ${ordinal}`, callId);
      if (ordinal > 0 && find.get(base + ordinal - 1) === undefined) return gap(`call ${ordinal}`);
      insertToolCall(base, call);
      changes.call(run.run, ordinal, "started");
      return true;
    },

    finish(run: Writing, { ordinal, status, result, childSession, completedAtMs }: ResultInput): Written {
      const key = firstKey(run.turn) + ordinal;
      const there = find.get(key);
      if (there === undefined) return conflict(`call ${ordinal}`, "a result without its call");
      if (there.status !== "started") {
        const same = there.status === status && there.result === result;
        return same ? false : conflict(`call ${ordinal}`, "another result");
      }
      update.run(status, result, childSession, completedAtMs, key);
      changes.call(run.run, ordinal, status);
      return true;
    },
  };
}

function beingAborted(turn: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Turn ${turn} is being aborted and accepts no more messages`,
    "Commit it as aborted; the next turn gets them.",
  );
}

/** The two inserts that journal and commit share. */
export function prepareContent(db: Database) {
  const message = db.prepare(
    "insert into message (key, id, role, content, body, at_ms) values (?, ?, ?, ?, ?, ?)",
  );
  const call = db.prepare(
    `insert into tool_call (key, call_id, tool, params, status, result, child_session, started_ms, completed_ms)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return {
    insertMessage: (key: number, { id, role, content, body, atMs }: MessageInput): void => {
      message.run(key, id, role, content, body, atMs);
    },
    insertToolCall: (base: number, input: ToolCallInput): void => {
      const { ordinal, callId, tool, params, status, result, childSession, startedAtMs, completedAtMs } =
        input;
      call.run(
        base + ordinal,
        callId,
        tool,
        params,
        status,
        result,
        childSession,
        startedAtMs,
        completedAtMs,
      );
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function sameMessage(a: MessageInput, b: MessageInput): boolean {
  return (
    a.id === b.id && a.role === b.role && a.content === b.content && a.body === b.body && a.atMs === b.atMs
  );
}

/** The items that a journalled message takes into its turn. */
function prepareTakenItems(db: Database) {
  const takeItem = db
    .prepare<[number, string, number], number>(
      `update item set state = 'claimed', turn = ?
       where id = ? and session = ? and settled_ms is null and state = 'queued' returning key`,
    )
    .pluck();
  const isTaken = db
    .prepare<[string, number], number>("select 1 from item where id = ? and turn = ?")
    .pluck();
  // A dropped item stays dropped; its turn is the one that was told.
  const tellDropped = db.prepare(
    `update item set turn = ?
     where id = ? and session = ? and state = 'dropped' and policy = 'summarize' and turn is null`,
  );
  const countDispatches = db
    .prepare<[string], number>(
      `select count(*) from item i join event e on e.seq = i.event
         join dispatch d on d.event in (e.seq, e.cause) and d.item = i.key
       where i.id = ? and d.outcome not in ('merged', 'silenced')`,
    )
    .pluck();
  const changes = prepareRecorder(db);
  return {
    /** Whether all items are part of the turn already. */
    all: (items: readonly string[], turn: number): boolean =>
      items.every((item) => isTaken.get(item, turn) !== undefined),

    take(items: readonly string[], run: Writing, dispatches: number | null): Refusal | undefined {
      for (const item of items) {
        const key = takeItem.get(run.turn, item, run.key);
        if (key !== undefined) changes.item(key, "claimed");
        else if (
          tellDropped.run(run.turn, item, run.key).changes === 0 &&
          isTaken.get(item, run.turn) === undefined
        ) {
          return new Refusal(
            "item_unknown",
            `Item ${item} is not waiting in this session`,
            "It was dropped or is part of another turn. Read the pending items again.",
          );
        }
      }
      if (dispatches === null) return undefined;
      if (dispatches === sum(items.map((item) => required(countDispatches.get(item))))) return undefined;
      return new Refusal(
        "item_unknown",
        `A hook has joined one of the items ${items.join(", ")} since they were read`,
        "Read the pending items again.",
      );
    },
  };
}

function gap(place: string): Refusal {
  return new Refusal(
    "journal_conflict",
    `Gap in the journal before ${place}`,
    "Journal the messages and calls of a turn in order, without gaps.",
  );
}

function conflict(place: string, given: string): Refusal {
  return new Refusal(
    "journal_conflict",
    `Journal conflict at ${place}: got ${given}`,
    "A journal is append-only. Read it and continue at its end.",
  );
}
