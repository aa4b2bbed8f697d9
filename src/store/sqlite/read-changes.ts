import type { Database } from "better-sqlite3";

import { CortexError } from "../../model/errors.ts";
import type { Direction } from "../../model/event.ts";
import type {
  ApprovalId,
  DelegationId,
  DeliveryId,
  DispatchId,
  EventId,
  ItemId,
  MessageId,
  RelayId,
  RunId,
  TurnId,
} from "../../model/ids.ts";
import type { Role } from "../../model/message.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { Change, ChangeBody, Changes, DelegationState, DispatchOutcome, ItemState } from "../store.ts";
import {
  APPROVAL_STATES,
  CALL_STATUSES,
  DELEGATION_STATES,
  DELIVERY_STATES,
  FACT,
  HOOK_OUTCOMES,
  HOOK_STATES,
  ITEM_STATES,
  RELAY_STATES,
  RUN_STATES,
  SESSION_CHANGES,
  WAITS,
} from "./change-entry.ts";
import { firstKey } from "./keys.ts";
import { checkPage } from "./page.ts";

interface Entry {
  readonly seq: number;
  readonly at_ms: number;
  readonly facts: string;
}

interface Ends {
  readonly first: number;
  readonly last: number;
}

/** Reads the feed of changes: entries become changes, keys become ids. */
export function prepareReadChanges(db: Database) {
  const findEnds = db.prepare<[], Ends>(
    `select coalesce((select min(seq) from change), 0) as first, coalesce((select max(seq) from change), 0) as last`,
  );
  const findEntries = db.prepare<[number, number], Entry>(
    "select seq, at_ms, facts from change where seq > ? order by seq limit ?",
  );
  const expand = prepareExpand(db);
  // One snapshot, so that what is trimmed meanwhile cannot go missing unnoticed.
  const readSince = db.transaction((seq: number, limit: number): Changes => {
    const { first, last } = findEnds.get()!;
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
    first: (): number => findEnds.get()!.first,
    last: (): number => findEnds.get()!.last,
  };
}

function checkSeq(seq: number): number {
  if (Number.isSafeInteger(seq) && seq >= 0) return seq;
  throw new CortexError("request_invalid", `${seq} is not the number of a change`, {
    hint: "Give the number of the last change that was seen, or 0 for all that are kept.",
  });
}

function prepareExpand(db: Database): (entry: Entry) => ChangeBody[] {
  const findEvent = db.prepare<[number], { id: string; channel: string; direction: Direction }>(
    "select id, channel, direction from event where seq = ?",
  );
  const findDispatch = db.prepare<[number], DispatchRow>(
    `select d.id, d.hook, e.id as event, i.id as item, s.label as session, d.outcome
     from dispatch d join event e on e.seq = d.event join item i on i.key = d.item
       join session s on s.key = i.session where d.key = ?`,
  );
  const findItem = db.prepare<[number], { id: string; session: string }>(
    "select i.id, s.label as session from item i join session s on s.key = i.session where i.key = ?",
  );
  const findRun = db.prepare<[number], RunRow>(
    `select r.id, r.turn, r.turn_id, s.label as session, r.attempt
     from run r join session s on s.key = r.session where r.key = ?`,
  );
  const findMessages = db.prepare<[number, number], { place: number; id: string; role: Role }>(
    "select key % 65536 as place, id, role from message where key between ? and ? order by key",
  );
  const findCall = db.prepare<[number], { call_id: string; tool: string }>(
    "select call_id, tool from tool_call where key = ?",
  );
  const findTurn = db.prepare<[number], TurnRow>(
    `select t.id, p.id as parent, s.label as session, t.type, t.status
     from turn t join session s on s.key = t.session left join turn p on p.key = t.parent where t.key = ?`,
  );
  const findDelivery = db.prepare<[number], { id: string; turn: string | null }>(
    "select d.id, r.turn_id as turn from delivery d left join run r on r.key = d.turn where d.key = ?",
  );
  const findApproval = db.prepare<[number], { id: string; turn: string; session: string; chat: string }>(
    `select a.id, r.turn_id as turn, s.label as session, coalesce(a.chat, s.label) as chat
     from approval a join run r on r.key = a.run join session s on s.key = r.session where a.key = ?`,
  );
  const findDelegation = db.prepare<[number], DelegationRow>(`${DELEGATION} where d.key = ?`);
  // What ends because its message is settled is ended by a trigger, which notes nothing.
  const findEnded = db.prepare<[number, number], DelegationRow>(
    `${DELEGATION} where d.item = ? and d.ended_ms = ? order by d.key`,
  );
  const findRelay = db.prepare<[number], string>("select id from relay where key = ?").pluck();
  const findHook = db.prepare<[number], string>("select name from hook where key = ?").pluck();
  const findHookRun = db.prepare<[number], { hook: string; event: string }>(
    `select h.name as hook, e.id as event from hook_run r join hook h on h.key = r.hook
       join event e on e.seq = r.event where r.key = ?`,
  );
  const findSession = db.prepare<[number], string>("select label from session where key = ?").pluck();

  return ({ facts, at_ms: atMs }) => {
    const numbers = JSON.parse(facts) as number[];
    const bodies: ChangeBody[] = [];
    for (let at = 0; at < numbers.length;) {
      const next = (): number => numbers[at++]!;
      bodies.push(...expandFact(next(), next, atMs));
    }
    return withoutRepeats(bodies);
  };

  /** None where what it is about is not there any more. */
  function expandFact(fact: number, next: () => number, atMs: number): ChangeBody[] {
    switch (fact) {
      case FACT.event: {
        const row = findEvent.get(next());
        if (row === undefined) return [];
        const { id, channel, direction } = row;
        return [{ kind: "event", event: id as EventId, channel, direction }];
      }
      case FACT.dispatch: {
        const row = findDispatch.get(next());
        return row === undefined ? [] : [toDispatch(row)];
      }
      case FACT.item: {
        const key = next();
        const row = findItem.get(key);
        const state = ITEM_STATES[next()]!;
        if (row === undefined) return [];
        const item = {
          kind: "item",
          item: row.id as ItemId,
          session: row.session as SessionKey,
          state,
        } as const;
        const outcomes = OUTCOMES[state] ?? [];
        if (outcomes.length === 0) return [item];
        const ended = findEnded.all(key, atMs).filter((delegation) => outcomes.includes(delegation.state));
        return [item, ...ended.map((delegation) => toDelegation(delegation, delegation.state))];
      }
      case FACT.run: {
        const row = findRun.get(next());
        const [state, wait] = [RUN_STATES[next()]!, WAITS[next()]];
        if (row === undefined) return [];
        return [{ kind: "run", ...ofRun(row), state, wait, attempt: row.attempt }];
      }
      case FACT.compacting: {
        const row = findRun.get(next());
        const isBegun = next() === 1;
        return row === undefined ? [] : [{ kind: "compacting", ...ofRun(row), isBegun }];
      }
      case FACT.messages: {
        const row = findRun.get(next());
        const [place, count] = [next(), next()];
        return row === undefined ? [] : messagesOf(row, place, count);
      }
      case FACT.call: {
        const row = findRun.get(next());
        const [ordinal, status] = [next(), CALL_STATUSES[next()]!];
        const call = row === undefined ? undefined : findCall.get(firstKey(row.turn) + ordinal);
        if (call === undefined) return [];
        const { call_id: callId, tool } = call;
        return [{ kind: "call", ...ofRun(row!), ordinal, callId, tool, status }];
      }
      case FACT.turn: {
        const row = findTurn.get(next());
        return row === undefined ? [] : [toTurn(row)];
      }
      case FACT.delivery: {
        const row = findDelivery.get(next());
        const state = DELIVERY_STATES[next()]!;
        if (row === undefined) return [];
        const turn = (row.turn ?? undefined) as TurnId | undefined;
        return [{ kind: "delivery", delivery: row.id as DeliveryId, turn, state }];
      }
      case FACT.approval: {
        const row = findApproval.get(next());
        const state = APPROVAL_STATES[next()]!;
        if (row === undefined) return [];
        const [turn, session, chat] = [row.turn as TurnId, row.session as SessionKey, row.chat as SessionKey];
        return [{ kind: "approval", approval: row.id as ApprovalId, turn, session, chat, state }];
      }
      case FACT.delegation: {
        const row = findDelegation.get(next());
        const state = DELEGATION_STATES[next()]!;
        return row === undefined ? [] : [toDelegation(row, state)];
      }
      case FACT.relay: {
        const relay = findRelay.get(next());
        const state = RELAY_STATES[next()]!;
        return relay === undefined ? [] : [{ kind: "relay", relay: relay as RelayId, state }];
      }
      case FACT.hook: {
        const hook = findHook.get(next());
        const state = HOOK_STATES[next()]!;
        return hook === undefined ? [] : [{ kind: "hook", hook, state }];
      }
      case FACT.hookRun: {
        const row = findHookRun.get(next());
        const outcome = HOOK_OUTCOMES[next()]!;
        if (row === undefined) return [];
        return [{ kind: "hook_run", hook: row.hook, event: row.event as EventId, outcome }];
      }
      case FACT.session: {
        const session = findSession.get(next()) as SessionKey | undefined;
        const what = SESSION_CHANGES[next()]!;
        return session === undefined ? [] : [{ kind: "session", session, what }];
      }
      default:
        throw new Error(`the feed of changes holds a fact of kind ${fact}`);
    }
  }

  function messagesOf(run: RunRow, place: number, count: number): ChangeBody[] {
    const base = firstKey(run.turn) + place;
    const inRun = ofRun(run);
    return findMessages
      .all(base, base + count - 1)
      .map((row) =>
        Object.assign(
          { kind: "message" as const, place: row.place, message: row.id as MessageId, role: row.role },
          inRun,
        ),
      );
  }
}

/** How a delegation ends whose message comes into a state. */
const OUTCOMES: Readonly<Partial<Record<ItemState, readonly DelegationState[]>>> = {
  done: ["done", "aborted"],
  merged: ["done", "aborted"],
  dropped: ["dropped"],
  dead: ["failed"],
};

/** A delegation that ends as it begins is noted, and is found by its message too. */
function withoutRepeats(bodies: ChangeBody[]): ChangeBody[] {
  const told = new Set<string>();
  return bodies.filter((body) => {
    if (body.kind !== "delegation") return true;
    const what = `${body.delegation} ${body.state}`;
    return !told.has(what) && told.add(what);
  });
}

const DELEGATION = `select d.id, c.label as caller, r.turn_id as caller_turn, s.label as session, d.state
  from delegation d join session c on c.key = d.caller join run r on r.key = d.caller_turn
    join session s on s.key = d.session`;

interface DelegationRow {
  readonly id: string;
  readonly caller: string;
  readonly caller_turn: string;
  readonly session: string;
  readonly state: DelegationState;
}

function toDelegation(row: DelegationRow, state: DelegationState): ChangeBody {
  return {
    kind: "delegation",
    delegation: row.id as DelegationId,
    caller: row.caller as SessionKey,
    callerTurn: row.caller_turn as TurnId,
    session: row.session as SessionKey,
    state,
  };
}

interface RunRow {
  readonly id: string;
  readonly turn: number;
  readonly turn_id: string;
  readonly session: string;
  readonly attempt: number;
}

function ofRun(row: RunRow): { turn: TurnId; run: RunId; session: SessionKey } {
  return { turn: row.turn_id as TurnId, run: row.id as RunId, session: row.session as SessionKey };
}

interface DispatchRow {
  readonly id: string;
  readonly hook: string;
  readonly event: string;
  readonly item: string;
  readonly session: string;
  readonly outcome: DispatchOutcome;
}

function toDispatch({ id, hook, event, item, session, outcome }: DispatchRow): ChangeBody {
  return {
    kind: "dispatch",
    dispatch: id as DispatchId,
    hook,
    event: event as EventId,
    item: item as ItemId,
    session: session as SessionKey,
    outcome,
  };
}

interface TurnRow {
  readonly id: string;
  readonly parent: string | null;
  readonly session: string;
  readonly type: "normal" | "compaction";
  readonly status: "completed" | "aborted";
}

function toTurn({ id, parent, session, type, status }: TurnRow): ChangeBody {
  return {
    kind: "turn",
    turn: id as TurnId,
    parent: (parent ?? undefined) as TurnId | undefined,
    session: session as SessionKey,
    type,
    status,
  };
}
