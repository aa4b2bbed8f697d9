import type { Database } from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import type { RelayId, RunId, TurnId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { Change, ChangeBody, Changes, DelegationState, ItemState } from "../store.ts";
import {
  APPROVAL_STATE_CODES,
  CALL_STATUS_CODES,
  DELEGATION_STATE_CODES,
  DELIVERY_STATE_CODES,
  FACT,
  HOOK_OUTCOMES,
  HOOK_STATE_CODES,
  ITEM_STATE_CODES,
  RELAY_STATE_CODES,
  RUN_STATE_CODES,
  SESSION_CHANGES,
  WAITS,
} from "./change-entry.ts";
import { firstKey } from "./keys.ts";
import { checkPage } from "./page.ts";
import { required } from "./row.ts";

interface ChangeRow {
  readonly seq: number;
  readonly at_ms: number;
  readonly facts: string;
}

interface Ends {
  readonly first: number;
  readonly last: number;
}

/** Reads the change feed: a row holds several facts, and each fact is one or more changes with ids instead of keys. */
export function prepareReadChanges(db: Database) {
  const findEnds = db.prepare<[], Ends>(
    `select coalesce((select min(seq) from change), 0) as first, coalesce((select max(seq) from change), 0) as last`,
  );
  const findEntries = db.prepare<[number, number], ChangeRow>(
    "select seq, at_ms, facts from change where seq > ? order by seq limit ?",
  );
  const expand = prepareExpand(db);
  // In one snapshot, so that rows trimmed meanwhile cannot go missing unnoticed.
  const readSince = db.transaction((seq: number, limit: number): Changes => {
    const { first, last } = required(findEnds.get());
    if (seq < first - 1 || seq > last) return { changes: [], seq: last, gap: true };
    const changes: Change[] = [];
    let at = seq;
    for (const entry of findEntries.all(seq, limit)) {
      at = entry.seq;
      for (const body of expand(entry)) changes.push({ seq: at, atMs: entry.at_ms, ...body });
    }
    return { changes, seq: at, gap: false };
  });
  return {
    since: (seq: number, { limit }: { limit?: number } = {}): Changes =>
      readSince(checkSeq(seq), checkPage(limit)),
    first: (): number => required(findEnds.get()).first,
    last: (): number => required(findEnds.get()).last,
  };
}

function checkSeq(seq: number): number {
  if (Number.isSafeInteger(seq) && seq >= 0) return seq;
  throw new CortexError("request_invalid", `Invalid change number ${seq}`, {
    hint: "Pass the number of the last change you saw, or 0 for all.",
  });
}

/** Makes changes from a fact, taking its numbers one by one. None if the fact's row no longer exists. */
type Expand = (next: () => number, atMs: number) => ChangeBody[];

function prepareExpand(db: Database): (row: ChangeRow) => ChangeBody[] {
  const expanders: Readonly<Record<number, Expand>> = {
    ...prepareMessages(db),
    ...prepareRuns(db),
    ...prepareWork(db),
    ...prepareHooks(db),
  };
  return ({ facts, at_ms: atMs }) => {
    const numbers = (JSON.parse(facts) as number[]).values();
    const next = (): number => numbers.next().value ?? -1;
    const bodies: ChangeBody[] = [];
    for (const fact of numbers) {
      const expand = expanders[fact];
      if (expand === undefined) throw new Error(`Unknown fact ${fact} in the change feed`);
      bodies.push(...expand(next, atMs));
    }
    return withoutRepeats(bodies);
  };
}

/** The body of a kind of change, without the fields that its numbers give. */
type BodyRow<Kind extends ChangeBody["kind"], Rest extends string = never> = Omit<
  Extract<ChangeBody, { kind: Kind }>,
  "kind" | Rest
>;

function prepareMessages(db: Database): Record<number, Expand> {
  const findEvent = db.prepare<[number], BodyRow<"event">>(
    "select id as event, channel, direction from event where seq = ?",
  );
  const findDispatch = db.prepare<[number], BodyRow<"dispatch">>(
    `select d.id as dispatch, d.hook, e.id as event, i.id as item, s.label as session, d.outcome
     from dispatch d join event e on e.seq = d.event join item i on i.key = d.item
       join session s on s.key = i.session where d.key = ?`,
  );
  const findItem = db.prepare<[number], BodyRow<"item", "state">>(
    "select i.id as item, s.label as session from item i join session s on s.key = i.session where i.key = ?",
  );
  // Delegations that end because their message is settled are ended by a trigger, which records no fact.
  const findEnded = db.prepare<[number, number], BodyRow<"delegation">>(
    `${DELEGATION} where d.item = ? and d.ended_ms = ? order by d.key`,
  );
  const findDelivery = db.prepare<[number], { id: BodyRow<"delivery">["delivery"]; turn: TurnId | null }>(
    "select d.id, r.turn_id as turn from delivery d left join run r on r.key = d.turn where d.key = ?",
  );
  return {
    [FACT.event]: (next) => changesOf(findEvent.get(next()), (row) => ({ kind: "event", ...row })),
    [FACT.dispatch]: (next) => changesOf(findDispatch.get(next()), (row) => ({ kind: "dispatch", ...row })),
    [FACT.item](next, atMs) {
      const key = next();
      const state = nameAt(ITEM_STATE_CODES, next());
      const outcomes = OUTCOMES[state] ?? [];
      const ended = outcomes.length === 0 ? [] : findEnded.all(key, atMs);
      return [
        ...changesOf(findItem.get(key), (row) => ({ kind: "item", ...row, state })),
        ...ended.filter((row) => outcomes.includes(row.state)).map(toDelegation),
      ];
    },
    [FACT.delivery](next) {
      const row = findDelivery.get(next());
      const state = nameAt(DELIVERY_STATE_CODES, next());
      return changesOf(row, ({ id, turn }) => ({
        kind: "delivery",
        delivery: id,
        turn: turn ?? undefined,
        state,
      }));
    },
  };
}

function prepareRuns(db: Database): Record<number, Expand> {
  const findRun = db.prepare<[number], RunRow>(
    `select r.id as run, r.turn as turnKey, r.turn_id as turn, s.label as session, r.attempt
     from run r join session s on s.key = r.session where r.key = ?`,
  );
  const findMessages = db.prepare<[number, number], BodyRow<"message", keyof RunIds>>(
    `select key % 65536 as place, id as message, role from message where key between ? and ? order by key`,
  );
  const findCall = db.prepare<[number], { callId: string; tool: string }>(
    "select call_id as callId, tool from tool_call where key = ?",
  );
  const findTurn = db.prepare<[number], Omit<BodyRow<"turn">, "parent"> & { parent: TurnId | null }>(
    `select t.id as turn, p.id as parent, s.label as session, t.type, t.status
     from turn t join session s on s.key = t.session left join turn p on p.key = t.parent where t.key = ?`,
  );
  return {
    [FACT.run](next) {
      const row = findRun.get(next());
      const [state, wait] = [nameAt(RUN_STATE_CODES, next()), WAITS[next()]];
      return changesOf(row, (run) => ({ kind: "run", ...idsOf(run), state, wait, attempt: run.attempt }));
    },
    [FACT.compacting](next) {
      const row = findRun.get(next());
      const isBegun = next() === 1;
      return changesOf(row, (run) => ({ kind: "compacting", ...idsOf(run), isBegun }));
    },
    [FACT.messages](next) {
      const run = findRun.get(next());
      const [place, count] = [next(), next()];
      if (run === undefined) return [];
      const first = firstKey(run.turnKey) + place;
      const ids = idsOf(run);
      return findMessages
        .all(first, first + count - 1)
        .map((row) => Object.assign({ kind: "message" as const }, ids, row));
    },
    [FACT.call](next) {
      const run = findRun.get(next());
      const [ordinal, status] = [next(), nameAt(CALL_STATUS_CODES, next())];
      if (run === undefined) return [];
      const call = findCall.get(firstKey(run.turnKey) + ordinal);
      return changesOf(call, (row) => ({ kind: "call", ...idsOf(run), ordinal, ...row, status }));
    },
    [FACT.turn]: (next) =>
      changesOf(findTurn.get(next()), (row) => ({ kind: "turn", ...row, parent: row.parent ?? undefined })),
  };
}

function prepareWork(db: Database): Record<number, Expand> {
  const findApproval = db.prepare<[number], BodyRow<"approval", "state">>(
    `select a.id as approval, r.turn_id as turn, s.label as session, coalesce(a.chat, s.label) as chat
     from approval a join run r on r.key = a.run join session s on s.key = r.session where a.key = ?`,
  );
  const findDelegation = db.prepare<[number], BodyRow<"delegation">>(`${DELEGATION} where d.key = ?`);
  const findRelay = db.prepare<[number], RelayId>("select id from relay where key = ?").pluck();
  const findSession = db.prepare<[number], SessionKey>("select label from session where key = ?").pluck();
  return {
    [FACT.approval](next) {
      const row = findApproval.get(next());
      const state = nameAt(APPROVAL_STATE_CODES, next());
      return changesOf(row, (approval) => ({ kind: "approval", ...approval, state }));
    },
    [FACT.delegation](next) {
      const row = findDelegation.get(next());
      const state = nameAt(DELEGATION_STATE_CODES, next());
      return changesOf(row, (delegation) => toDelegation({ ...delegation, state }));
    },
    [FACT.relay](next) {
      const id = findRelay.get(next());
      const state = nameAt(RELAY_STATE_CODES, next());
      return changesOf(id, (relay) => ({ kind: "relay", relay, state }));
    },
    [FACT.session](next) {
      const label = findSession.get(next());
      const what = nameAt(SESSION_CHANGES, next());
      return changesOf(label, (session) => ({ kind: "session", session, what }));
    },
  };
}

function prepareHooks(db: Database): Record<number, Expand> {
  const findHook = db.prepare<[number], string>("select name from hook where key = ?").pluck();
  const findRun = db.prepare<[number], BodyRow<"hook_run", "outcome">>(
    `select h.name as hook, e.id as event from hook_run r join hook h on h.key = r.hook
       join event e on e.seq = r.event where r.key = ?`,
  );
  return {
    [FACT.hook](next) {
      const name = findHook.get(next());
      const state = nameAt(HOOK_STATE_CODES, next());
      return changesOf(name, (hook) => ({ kind: "hook", hook, state }));
    },
    [FACT.hookRun](next) {
      const row = findRun.get(next());
      const outcome = nameAt(HOOK_OUTCOMES, next());
      return changesOf(row, (run) => ({ kind: "hook_run", ...run, outcome }));
    },
  };
}

function changesOf<Row>(row: Row | undefined, toBody: (row: Row) => ChangeBody): ChangeBody[] {
  return row === undefined ? [] : [toBody(row)];
}

function nameAt<Name>(names: readonly Name[], index: number): Name {
  const name = names[index];
  if (name === undefined) throw new Error(`Unknown state ${index} in the change feed`);
  return name;
}

/** The outcome of a delegation by the final state of its message. */
const OUTCOMES: Readonly<Partial<Record<ItemState, readonly DelegationState[]>>> = {
  done: ["done", "aborted"],
  merged: ["done", "aborted"],
  dropped: ["dropped"],
  dead: ["failed"],
};

/** A delegation that ends as it begins has its own fact, and is found through its message too. */
function withoutRepeats(bodies: ChangeBody[]): ChangeBody[] {
  const seen = new Set<string>();
  return bodies.filter((body) => {
    if (body.kind !== "delegation") return true;
    const key = `${body.delegation} ${body.state}`;
    return !seen.has(key) && seen.add(key);
  });
}

const DELEGATION = `select d.id as delegation, c.label as caller, r.turn_id as callerTurn, s.label as session, d.state
  from delegation d join session c on c.key = d.caller join run r on r.key = d.caller_turn
    join session s on s.key = d.session`;

function toDelegation(row: BodyRow<"delegation">): ChangeBody {
  return { kind: "delegation", ...row };
}

interface RunIds {
  readonly turn: TurnId;
  readonly run: RunId;
  readonly session: SessionKey;
}

interface RunRow extends RunIds {
  readonly turnKey: number;
  readonly attempt: number;
}

function idsOf({ turn, run, session }: RunRow): RunIds {
  return { turn, run, session };
}
