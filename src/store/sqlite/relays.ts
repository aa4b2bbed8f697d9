import type { Database } from "better-sqlite3";

import type { RelayState } from "../store.ts";
import { prepareAborts } from "./abort.ts";
import { prepareAccept } from "./accept-event.ts";
import { heldCodec, prepareRequests } from "./approval-requests.ts";
import { claimCodec, type ClaimRow } from "./claim.ts";
import { dispatchCodec } from "./dispatch.ts";
import { prepareLabelWords, prepareShareTrust } from "./inherit-trust.ts";
import { deliveryCodec, prepareInsertDeliveries } from "./insert-delivery.ts";
import { eventCodec } from "./insert-event.ts";
import { oncePerDatabase } from "./once.ts";
import { type OperationTime, operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import { relayUnknown, sessionUnknown } from "./unknown.ts";
import { prepareWaitingTurns } from "./waiting-turns.ts";
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
  wordsOrNull,
} from "./wire.ts";

const configCodec = record({ hash: text, json });

const stepCodec = record({
  step: number,
  slot: text,
  record: json,
  isEnded: number,
  costUsd: realOrNull,
  accept: optional(record({ event: eventCodec, dispatch: dispatchCodec, worker: json, trust: list(text) })),
});

type StepInput = Decoded<typeof stepCodec>;
type StepWork = NonNullable<StepInput["accept"]>;

export const createRelay = operation(
  record({
    id: text,
    template: textOrNull,
    state: textOf<RelayState>(),
    record: json,
    detail: jsonOrNull,
    config: optional(configCodec),
    channel: textOrNull,
    caller: optional(record({ session: text, turn: text, ordinal: number })),
    steps: list(stepCodec),
    createdMs: numberOrNull,
    endedMs: numberOrNull,
  }),
  (db) => {
    const isThere = db.prepare<[string], number>("select 1 from relay where id = ?").pluck();
    const findCaller = db.prepare<[string], { key: number; turn: number | null; turn_id: string | null }>(
      "select s.key, r.turn, r.turn_id from session s left join run r on r.key = s.run where s.label = ?",
    );
    const insert = db.prepare(
      `insert into relay (id, template, state, record, detail, config, channel, caller, caller_turn, ordinal, due_ms,
                          created_ms, updated_ms, ended_ms)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const rows = prepareRows(db);
    const changes = prepareRecorder(db);
    return (input, moment): { fresh: boolean } | Refusal => {
      const { id, template, state, detail, config, channel, caller } = input;
      if (isThere.get(id) !== undefined) return { fresh: false };
      const waiter = caller === undefined ? undefined : findCaller.get(caller.session);
      if (caller !== undefined && waiter === undefined) return sessionUnknown(caller.session);
      if (caller !== undefined && waiter?.turn_id !== caller.turn)
        return notUnderWay(caller.turn, caller.session);
      if (config !== undefined) rows.keepConfig(config);
      const { nowMs } = moment;
      const inserted = insert.run(
        id,
        template,
        state,
        input.record,
        detail,
        config?.hash,
        channel,
        waiter?.key,
        waiter?.turn,
        caller?.ordinal,
        isFinal(state) ? null : nowMs,
        input.createdMs ?? nowMs,
        nowMs,
        isFinal(state) ? (input.endedMs ?? nowMs) : null,
      );
      const key = Number(inserted.lastInsertRowid);
      for (const step of input.steps) rows.putStep(key, step, null, nowMs);
      changes.relay(key, state);
      moment.wake("queue");
      return { fresh: true };
    };
  },
);

interface RelayRow {
  readonly key: number;
  readonly version: number;
  readonly caller: number | null;
  readonly caller_turn: number | null;
  readonly ended_ms: number | null;
}

export interface SavedRow {
  readonly version: number;
  readonly claim: ClaimRow | undefined;
}

const changeCodec = record({
  id: text,
  version: number,
  state: textOf<RelayState>(),
  record: json,
  detail: jsonOrNull,
  config: optional(configCodec),
  due: number,
  steps: list(stepCodec),
  deliveries: list(deliveryCodec),
  held: optional(heldCodec),
  stop: wordsOrNull,
  tell: optional(record({ event: eventCodec, dispatch: dispatchCodec })),
  claim: optional(claimCodec),
});

type ChangeInput = Decoded<typeof changeCodec>;

export const saveRelay = operation(changeCodec, (db) => {
  const find = db.prepare<[string], RelayRow>(
    "select key, version, caller, caller_turn, ended_ms from relay where id = ?",
  );
  const readVersion = db.prepare<[number], number>("select version from relay where key = ?").pluck();
  const updateRelay = prepareUpdateRelay(db);
  const saveSteps = prepareSaveSteps(db);
  const stopSteps = prepareStopSteps(db);
  const insertDeliveries = prepareInsertDeliveries(db);
  const hold = prepareHold(db);
  const accept = prepareAccept(db);
  const waitingTurns = prepareWaitingTurns(db);
  const changes = prepareRecorder(db);

  return (input, moment): SavedRow | Refusal => {
    const { id, state, deliveries, stop, tell } = input;
    const relay = find.get(id);
    if (relay === undefined) return relayUnknown(id);
    if (relay.version !== input.version) return isAnother(id, input.version, relay.version);
    const { key } = relay;
    updateRelay(relay, input, moment.nowMs);
    const claim = saveSteps(key, input, moment);
    if (claim instanceof Refusal) return claim;
    if (stop !== null) stopSteps(key, stop, moment);
    insertDeliveries(deliveries, { turn: null, message: null }, moment.nowMs);
    if (deliveries.length > 0) moment.wake("outbox");
    if (input.held !== undefined) hold(key, input.held, moment);
    const told = tell === undefined ? undefined : accept({ ...tell, judge: 0, claim: undefined }, moment);
    if (told instanceof Refusal) return told;
    if (isFinal(state) && relay.ended_ms === null && relay.caller !== null)
      waitingTurns.wakeIfTold(relay.caller, relay.caller_turn!, moment);
    changes.relay(key, state);
    if (input.due !== 0 || stop !== null) moment.wake("queue");
    return { version: required(readVersion.get(key)), claim }; // stopping steps may have changed it
  };
});

function prepareUpdateRelay(db: Database): (relay: RelayRow, input: ChangeInput, nowMs: number) => void {
  const update = db.prepare(
    `update relay set state = @state, version = @version, record = @record, detail = coalesce(@detail, detail),
       config = coalesce(@config, config), due_ms = @dueMs, archived = 0, updated_ms = @nowMs, ended_ms = @endedMs
     where key = @key`,
  );
  const rows = prepareRows(db);
  return (relay, { state, record, detail, config, due }, nowMs) => {
    if (config !== undefined) rows.keepConfig(config);
    update.run({
      key: relay.key,
      state,
      version: relay.version + 1,
      record,
      detail,
      config: config?.hash ?? null,
      dueMs: due === 0 ? null : nowMs,
      nowMs,
      endedMs: isFinal(state) ? (relay.ended_ms ?? nowMs) : null,
    });
  };
}

/** Writes the steps of a change and queues the messages that ask for them. Returns the claim of the first, if granted. */
function prepareSaveSteps(db: Database) {
  const markDue = db.prepare("update relay set due_ms = ? where key = ?");
  const findItem = db.prepare<[string], { key: number; settled_ms: number | null }>(
    "select key, settled_ms from item where id = ?",
  );
  const setWorker = db.prepare(
    "update session set worker = ? where key = (select session from item where key = ?)",
  );
  const accept = prepareAccept(db);
  const rows = prepareRows(db);

  return (relay: number, input: ChangeInput, moment: OperationTime): ClaimRow | undefined | Refusal => {
    let claim: ClaimRow | undefined;
    for (const [place, step] of input.steps.entries()) {
      if (step.accept === undefined) {
        rows.putStep(relay, step, null, moment.nowMs);
        continue;
      }
      const request = place === 0 ? input.claim : undefined;
      const { event, dispatch } = step.accept;
      const accepted = accept({ event, dispatch, claim: request, judge: 0 }, moment);
      if (accepted instanceof Refusal) return accepted;
      const dispatched = required(accepted.dispatched);
      begin(relay, step, step.accept, dispatched.item, moment.nowMs);
      claim ??= dispatched.claim;
    }
    return claim;
  };

  function begin(
    relay: number,
    step: StepInput,
    { worker, trust }: StepWork,
    id: string,
    nowMs: number,
  ): void {
    const item = required(findItem.get(id));
    setWorker.run(worker, item.key);
    for (const session of trust) rows.shareTrust(session, item.key, nowMs);
    rows.putStep(relay, step, item.key, nowMs);
    if (item.settled_ms === null) return;
    rows.endStep(relay, step.step, item.settled_ms);
    markDue.run(nowMs, relay);
  }
}

function prepareStopSteps(db: Database): (relay: number, reason: string, moment: OperationTime) => void {
  const findRunning = db
    .prepare<[number], number>(
      "select item from relay_step where relay = ? and state = 'running' and item is not null order by step",
    )
    .pluck();
  const aborts = prepareAborts(db);
  return (relay, reason, moment) => {
    for (const item of findRunning.all(relay)) aborts.stopWork(item, "relay", reason, moment);
  };
}

export const archiveRelays = operation(record({ ids: list(text) }), (db) => {
  const archive = db.prepare("update relay set archived = 1 where id = ? and ended_ms is not null");
  return ({ ids }): null => {
    for (const id of ids) archive.run(id);
    return null;
  };
});

const prepareRows = oncePerDatabase((db: Database) => {
  const insertConfig = db.prepare("insert or ignore into relay_config (hash, json) values (?, ?)");
  const put = db.prepare(
    `insert into relay_step (relay, step, slot, state, item, record, cost_usd, started_ms, ended_ms)
     values (@relay, @step, @slot, @state, @item, @record, @costUsd, @nowMs, @endedMs)
     on conflict (relay, step) do update set slot = excluded.slot, record = excluded.record,
       cost_usd = excluded.cost_usd, state = iif(state = 'ended', state, excluded.state),
       ended_ms = coalesce(ended_ms, excluded.ended_ms)`,
  );
  const end = db.prepare(
    "update relay_step set state = 'ended', ended_ms = ? where relay = ? and step = ? and state = 'running'",
  );
  const findSession = db.prepare<[string], number>("select key from session where label = ?").pluck();
  const findItem = db.prepare<[number], { session: number; event: number }>(
    "select session, event from item where key = ?",
  );
  const labelWords = prepareLabelWords(db);
  const share = prepareShareTrust(db);
  return {
    keepConfig: ({ hash, json: text }: Decoded<typeof configCodec>): void =>
      void insertConfig.run(hash, text),
    putStep(relay: number, step: StepInput, item: number | null, nowMs: number): void {
      const { step: place, slot, record: text, isEnded, costUsd } = step;
      const isOver = isEnded !== 0;
      put.run({
        relay,
        step: place,
        slot,
        state: isOver ? "ended" : "running",
        item,
        record: text,
        costUsd,
        nowMs,
        endedMs: isOver ? nowMs : null,
      });
    },
    endStep: (relay: number, step: number, atMs: number | null): void => void end.run(atMs, relay, step),
    shareTrust(from: string, item: number, nowMs: number): void {
      const key = findSession.get(from);
      if (key === undefined) return;
      const { session, event } = required(findItem.get(item));
      labelWords(key, event);
      share(key, session, nowMs);
    },
  };
});

/** Asks on behalf of the last step whether what a relay says may be sent. */
function prepareHold(db: Database) {
  const findLast = db.prepare<[number], { key: number; run: number }>(
    `select i.session as key, i.turn as run from relay_step p join item i on i.key = p.item
     where p.relay = ? and i.turn is not null order by p.step desc limit 1`,
  );
  const requests = prepareRequests(db);
  const insertDeliveries = prepareInsertDeliveries(db);
  return (
    relay: number,
    { request, deliveries: approved, refused }: Decoded<typeof heldCodec>,
    moment: OperationTime,
  ): void => {
    const asker = findLast.get(relay);
    if (asker !== undefined)
      return requests.hold(request, { message: null, approved, refused }, asker, moment);
    insertDeliveries(refused, { turn: null, message: null }, moment.nowMs);
    moment.wake("outbox");
  };
}

const FINAL: ReadonlySet<string> = new Set<RelayState>(["completed", "failed", "cancelled", "aborted"]);

function isFinal(state: string): boolean {
  return FINAL.has(state);
}

function isAnother(id: string, wanted: number, found: number): Refusal {
  return new Refusal(
    "state_conflict",
    `Relay ${id} has changed: expected version ${wanted}, found ${found}`,
    "Read it again and retry.",
  );
}

function notUnderWay(turn: string, session: string): Refusal {
  return new Refusal(
    "state_conflict",
    `Turn ${turn} is not running in session "${session}"`,
    "Only a running turn can wait for a relay.",
  );
}
