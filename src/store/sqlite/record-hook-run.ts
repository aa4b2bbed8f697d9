/**
 * The consequences of a hook's judgement of an event, in one commit: the run, the dispatch, the counters, the circuit,
 * and whether the hook is disabled. The run is unique by (event, hook), and the rest is only written together with it,
 * so no hook fires twice for one event.
 */
import type { Database } from "better-sqlite3";

import { isChainEnd } from "../../model/chain.ts";
import { CIRCUIT_ERRORS, type HookState } from "../store.ts";
import { claimCodec, type ClaimRequest } from "./claim.ts";
import {
  dispatchCodec,
  type DispatchedRow,
  type DispatchCells,
  prepareDispatch,
  prepareFindDispatch,
} from "./dispatch.ts";
import { oncePerDatabase } from "./once.ts";
import { type OperationTime, operation, Refusal } from "./operation.ts";
import { prepareRecorder } from "./record-changes.ts";
import { required } from "./row.ts";
import { eventUnknown, hookUnknown } from "./unknown.ts";
import { prepareGathering } from "./gathering.ts";
import { prepareUnjudged } from "./unjudged.ts";
import {
  type Decoded,
  jsonOrNull,
  list,
  number,
  optional,
  realOrNull,
  record,
  text,
  wordsOrNull,
} from "./wire.ts";

const runCodec = record({
  hook: text,
  fired: number,
  result: jsonOrNull,
  error: wordsOrNull,
  disable: number,
  silences: list(text),
  yields: number,
  llmCalls: number,
  costUsd: realOrNull,
  startedMs: number,
  endedMs: number,
  skipped: number,
});

type RunInput = Decoded<typeof runCodec>;

export interface RecordedRow {
  readonly fresh: boolean;
  readonly fired: boolean;
  readonly state: HookState;
  readonly dispatched: DispatchedRow | undefined;
}

interface EventRow {
  readonly seq: number;
  readonly channel: string;
}

interface HookRow {
  readonly key: number;
  readonly mode: string;
  readonly enabled: number;
  readonly failures: number;
  readonly run_error: string | null;
  readonly opened_ms: number | null;
  readonly state: HookState;
}

export const recordHookRun = operation(
  record({ event: text, run: runCodec, dispatch: optional(dispatchCodec), claim: optional(claimCodec) }),
  (db) => {
    const findEvent = prepareFindEvent(db);
    const recordRun = prepareRecordRun(db);
    return ({ event: id, run, dispatch, claim }, moment): RecordedRow | Refusal => {
      const event = findEvent(id);
      if (event instanceof Refusal) return event;
      return recordRun({ event, run, dispatch, claim }, moment);
    };
  },
);

export const noteJudged = operation(record({ event: text, runs: list(runCodec) }), (db) => {
  const findEvent = prepareFindEvent(db);
  const recordRun = prepareRecordRun(db);
  const unjudged = prepareUnjudged(db);
  const gathering = prepareGathering(db);
  return ({ event: id, runs }, moment): null | Refusal => {
    const event = findEvent(id);
    if (event instanceof Refusal) return event;
    for (const run of runs) {
      const recorded = recordRun({ event, run, dispatch: undefined, claim: undefined }, moment);
      if (recorded instanceof Refusal) return recorded;
    }
    unjudged.remove(event.seq);
    gathering.end(event.seq, moment);
    return null;
  };
});

export const holdDispatches = operation(record({ event: text, hooks: list(text), forMs: number }), (db) => {
  const findEvent = prepareFindEvent(db);
  const gathering = prepareGathering(db);
  return ({ event: id, hooks, forMs }, { nowMs }): null | Refusal => {
    const event = findEvent(id);
    if (event instanceof Refusal) return event;
    for (const hook of hooks) gathering.hold(event.seq, hook, { forMs, nowMs });
    return null;
  };
});

function prepareFindEvent(db: Database): (id: string) => EventRow | Refusal {
  const find = db.prepare<[string], EventRow>("select seq, channel from event where id = ?");
  return (id) => find.get(id) ?? eventUnknown(id);
}

interface Judgement {
  readonly event: EventRow;
  readonly run: RunInput;
  readonly dispatch: DispatchCells | undefined;
  readonly claim: ClaimRequest | undefined;
}

const prepareRecordRun = oncePerDatabase((db: Database) => {
  const findHook = db.prepare<[string], HookRow>(
    "select key, mode, enabled, failures, run_error, opened_ms, state from hook where name = ?",
  );
  const findFired = db
    .prepare<[number, number], number>("select fired from hook_run where event = ? and hook = ?")
    .pluck();
  const isTakenOver = db
    .prepare<[number], number>(
      "select 1 from hook_run where event = ? and fired = 1 and exclusive = 1 limit 1",
    )
    .pluck();
  const insertRun = prepareInsertRun(db);
  const gathering = prepareGathering(db);
  const findDispatch = prepareFindDispatch(db);
  const dispatchEvent = prepareDispatch(db);
  const adjust = prepareAdjust(db);
  const changes = prepareRecorder(db);

  return ({ event, run, dispatch, claim }: Judgement, moment: OperationTime): RecordedRow | Refusal => {
    const hook = findHook.get(run.hook);
    if (hook === undefined) return hookUnknown(run.hook);
    const before = findFired.get(event.seq, hook.key);
    if (before !== undefined) {
      const dispatched = findDispatch(event.seq, run.hook);
      return { fresh: false, fired: before === 1, state: hook.state, dispatched };
    }
    const fired = run.fired === 1 && hook.enabled === 1;
    const yields = run.yields !== 0 && isTakenOver.get(event.seq) !== undefined;
    const dispatched =
      fired && dispatch !== undefined && !yields
        ? dispatchEvent({ ...event, fresh: false }, dispatch, claim, moment)
        : undefined;
    if (dispatched instanceof Refusal) return dispatched;
    const key = insertRun(hook.key, event.seq, fired, run);
    if (fired) for (const silenced of run.silences) gathering.silence(event.seq, silenced, moment);
    if (fired) changes.hookRun(key, "fired");
    else if (run.error !== null) changes.hookRun(key, "failed");
    if (run.skipped === 1) return { fresh: true, fired, state: hook.state, dispatched };
    return { fresh: true, fired, state: adjust(hook, fired, run, moment.nowMs), dispatched };
  };
});

/** Inserts a run of a hook and returns its key. */
function prepareInsertRun(db: Database) {
  const insert = db.prepare(
    `insert into hook_run (hook, event, fired, exclusive, result, error, llm_calls, cost_usd, started_ms, ended_ms)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (hook: number, event: number, fired: boolean, run: RunInput): number => {
    const { silences, result, error, llmCalls, costUsd, startedMs, endedMs } = run;
    const isExclusive = fired && silences.length > 0;
    const outcome = [Number(fired), Number(isExclusive), result, error] as const;
    const { lastInsertRowid } = insert.run(hook, event, ...outcome, llmCalls, costUsd, startedMs, endedMs);
    return Number(lastInsertRowid);
  };
}

/** Brings a hook into the state that follows from its run. Most runs change nothing, so nothing is written. */
function prepareAdjust(
  db: Database,
): (hook: HookRow, fired: boolean, run: RunInput, nowMs: number) => HookState {
  const update = db
    .prepare<[Adjustment], HookState>(
      `update hook set enabled = enabled and not @disable, triggers = triggers + @fired,
         triggered_ms = iif(@fired, @nowMs, triggered_ms), failures = @failures, run_error = @error,
         opened_ms = @openedMs
       where key = @key returning state`,
    )
    .pluck();
  const changes = prepareRecorder(db);
  return (hook, fired, { error, disable }, nowMs) => {
    const disables = disable === 1 || (fired && hook.mode === "one-shot");
    // Before a chain ends, its hook has fired successfully many times, which does not show that it recovered.
    const isInRow = isChainEnd(hook.run_error);
    const isWell = error === null && hook.opened_ms === null && (hook.failures === 0 || isInRow);
    if (isWell && !fired && !disables) return hook.state;
    const kept = isInRow ? hook.failures : 0;
    const failures = error === null ? kept : hook.failures + 1;
    const state = required(
      update.get({
        key: hook.key,
        fired: Number(fired),
        disable: Number(disables),
        failures,
        error: error ?? (isInRow ? hook.run_error : null),
        openedMs: error !== null && failures >= CIRCUIT_ERRORS ? nowMs : null,
        nowMs,
      }),
    );
    if (state !== hook.state) changes.hook(hook.key, state);
    return state;
  };
}

interface Adjustment {
  readonly key: number;
  readonly fired: number;
  readonly disable: number;
  readonly failures: number;
  readonly error: string | null;
  readonly openedMs: number | null;
  readonly nowMs: number;
}
