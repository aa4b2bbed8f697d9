/** The hooks of a home at work: their files are watched, and every event that one of them could want is judged. */
import { rmSync } from "node:fs";

import { Catalogue, type Entry } from "./judge/catalogue.ts";
import { matchPatterns, passes } from "./judge/filter.ts";
import type { HookSearchHit, HookSearchOptions, Moment } from "./hook.ts";
import { toHookEvent } from "./hook-event.ts";
import { Judge, toAsk } from "./judge/judge.ts";
import { normaliseResult } from "./judge/normalise-result.ts";
import { FolderWatch } from "../config/watch-folders.ts";
import { HookPool, type PoolLimits } from "./run/pool.ts";
import { type Incoming, toEvent } from "../events/incoming.ts";
import { CortexError } from "../model/errors.ts";
import type { Direction } from "../model/event.ts";
import type { EventId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { namedVariables } from "../programs/environment.ts";
import type { Broker } from "../queue/broker.ts";
import type { SqlValue, Store, StoredEvent, StoredHook } from "../store/store.ts";
import { databasePath } from "../config/home.ts";
import { dispatchFor } from "./judge/dispatch.ts";
import { addHookFile, addShippedHooks, hooksPath } from "./folder/files.ts";
import { findSyntaxError } from "./folder/find-syntax-error.ts";
import { createHookLlm, type HookLlmParts } from "./llm.ts";
import type { Relays } from "../relay/relays.ts";

export interface HooksParts extends Omit<HookLlmParts, "store"> {
  readonly home: string;
  readonly store: Store;
  readonly broker: Pick<Broker, "withSlot">;
  /** For hooks that start one. */
  readonly relays: () => Pick<Relays, "run">;
  /** Looks one up that was named for hooks, in our environment or in `config/.env`. */
  readonly variable: (name: string) => string | undefined;
  readonly onChainEnded: (event: EventId, by: string) => Promise<void>;
  readonly log: (line: string) => void;
  readonly limits?: Partial<PoolLimits>;
}

export interface Hooks extends AsyncDisposable {
  /** Whether an event of this direction is to be judged, on this channel or on any. */
  wants(direction: Direction, channel?: string): boolean;
  /** Begins to judge what waits for it. */
  start(): void;
  /** Reads the folder again; resolves when what is there is in use. */
  sync(): Promise<void>;
  /** Enabling closes the circuit too. `hook_unknown`. */
  setEnabled(name: string, enabled: boolean): Promise<StoredHook>;
  /** Adds a file. One that is there already is `state_conflict`; what cannot be loaded is `hook_failed`, and not kept. */
  add(name: string, source: string): Promise<StoredHook>;
  /** What a hook says to an event, of the ledger or made up. Nothing is recorded and nothing is done. */
  test(name: string, event: EventId | Incoming): Promise<HookTrial>;
}

interface HookTrial {
  readonly hook: string;
  /** False: its filter does not let the event through, and it was not asked. */
  readonly matches: boolean;
  readonly fired: boolean;
  /** In the one form that all results are brought into. */
  readonly result: Json;
  readonly error: string | null;
  readonly llmCalls: number;
  readonly costUsd: number | null;
  readonly durationMs: number;
}

export async function openHooks(parts: HooksParts): Promise<Hooks> {
  const { home, store, broker, config, clock, log } = parts;
  addShippedHooks(home);
  const folder = hooksPath(home);
  const pool = new HookPool({
    data: { folder, dbPath: databasePath(home) },
    variables: () => namedVariables({ names: config().hooks.env, variable: parts.variable }),
    timezone: () => config().timezone,
    clock,
    services: {
      query: (sql, params) => store.query(sql, params as readonly SqlValue[]),
      search: (text, options) => searchFor(text, options, store),
      llm: createHookLlm(parts),
    },
    onLate: (hook, error) => log(`The hook ${hook ?? "?"} failed after it had given its result: ${error}`),
    ...(parts.limits === undefined ? {} : { limits: parts.limits }),
  });
  const catalogue = new Catalogue({ folder, store, pool });
  const judge = new Judge({
    store,
    catalogue,
    pool,
    clock,
    timezone: () => config().timezone,
    gatherMs: () => config().hooks.gatherMs,
    dispatchFor: (event, hook, verdict) => dispatchFor(event, hook, verdict, { ...parts, config: config() }),
    withSlot: (record) =>
      broker.withSlot(async (claim) => {
        const result = await record(claim);
        return { result, claim: result.dispatched?.claim };
      }),
    onChainEnded: (event, hook) => parts.onChainEnded(event, `the hook ${hook}`),
    onOpened: ({ name, error }) => log(`The hook ${name} is paused after repeated failures: ${error}`),
    onProblem: (error, event) =>
      log(
        `${event === undefined ? "Events are" : `The event ${event.id} is`} judged later: ${String(error)}`,
      ),
  });
  /** What was said of each hook that cannot be loaded. */
  const reported = new Map<string, string>();
  const sync = async (): Promise<void> => {
    try {
      if (await catalogue.sync()) reportErrors(await store.hooks.list(), reported, log);
    } catch (error) {
      log(`The hooks in ${folder} cannot be read: ${String(error)}`);
    }
  };
  await sync();
  const watch = new FolderWatch({ folders: () => [folder], onChange: () => void sync() });

  return {
    wants: (direction, channel) => catalogue.wants(direction, channel),
    start: () => judge.start(),
    sync,
    async setEnabled(name, enabled) {
      await store.hooks.setEnabled(name, enabled);
      await catalogue.take(name);
      if (!enabled) pool.giveUp(name);
      return (await store.hooks.get(name)) ?? fail(unknown(name));
    },
    async add(name, source) {
      const problem = await findSyntaxError(source);
      if (problem !== undefined) throw unloadable(name, problem);
      const path = addHookFile(home, name, source);
      await sync();
      const stored = (await store.hooks.get(name)) ?? fail(unknown(name));
      if (stored.error === undefined) return stored;
      rmSync(path, { force: true }); // its author can try again, under the same name
      await sync();
      throw unloadable(name, stored.error);
    },
    async test(name, given) {
      const [entry, event] = await Promise.all([
        findEntry(name, catalogue, store),
        findEvent(given, store, clock),
      ]);
      return tryOut(entry, event, { pool, timezone: config().timezone, nowMs: clock() });
    },
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      const judged = judge[Symbol.asyncDispose]();
      await pool[Symbol.asyncDispose]();
      await judged;
    },
  };
}

async function searchFor(text: unknown, given: unknown, store: Store): Promise<HookSearchHit[]> {
  const { channels, since, until, limit } = (given ?? {}) as HookSearchOptions;
  const hits = await store.events.search(String(text), {
    channels,
    limit,
    sinceMs: toMs(since),
    untilMs: toMs(until),
  });
  return hits.map(({ event, score, text: said, channel, sender, atMs }) => {
    return { eventId: event, score, text: said, channel, sender_id: sender ?? null, timestamp: atMs };
  });
}

function toMs(moment: Moment | undefined): number | undefined {
  if (moment === undefined || moment === null) return undefined;
  const ms = new Date(moment).getTime();
  if (!Number.isNaN(ms)) return ms;
  throw new CortexError("hook_failed", `${JSON.stringify(moment)} is no moment`, {
    hint: "Give `since` and `until` as a Date, as milliseconds or as a text such as 2026-11-15.",
  });
}

function reportErrors(
  hooks: readonly StoredHook[],
  reported: Map<string, string>,
  log: (line: string) => void,
): void {
  for (const { name, state, error = "" } of hooks) {
    if (state !== "errored") reported.delete(name);
    else if (reported.get(name) !== error) {
      reported.set(name, error);
      log(`The hook ${name} cannot be loaded: ${error}`);
    }
  }
}

async function findEntry(name: string, catalogue: Catalogue, store: Store): Promise<Entry> {
  const entry = await catalogue.find(name);
  if (entry !== undefined) return entry;
  const stored = await store.hooks.get(name);
  if (stored === undefined) throw unknown(name);
  const why = stored.present ? (stored.error ?? "an agent wrote it, and it is disabled") : "its file is gone";
  throw new CortexError("hook_failed", `The hook ${name} cannot be asked: ${why}`, {
    hint: "Read its file in the folder hooks/, mend or enable it, and try again.",
  });
}

async function findEvent(given: EventId | Incoming, store: Store, clock: () => number): Promise<StoredEvent> {
  if (typeof given !== "string")
    return { ...toEvent(given), receivedAtMs: clock(), differing: 0, depth: 0, returned: 0 };
  const event = await store.events.get(given);
  if (event !== undefined) return event;
  throw new CortexError("event_unknown", `No event has the id "${given}"`, {
    hint: "`cortex events` lists the events there are.",
  });
}

async function tryOut(
  entry: Entry,
  event: StoredEvent,
  { pool, timezone, nowMs }: { pool: HookPool; timezone: string; nowMs: number },
): Promise<HookTrial> {
  const trial = { hook: entry.stored.name, matches: true, fired: false, result: null, error: null };
  const free = { llmCalls: 0, costUsd: 0, durationMs: 0 };
  const isMeant = passes(entry.filter, event, { timezone, createdAtMs: entry.stored.createdAtMs });
  const [found] = isMeant ? await matchPatterns([entry.filter], event) : [false];
  if (found === false) return { ...trial, matches: false, ...free };
  if (found !== true) return { ...trial, error: found!.message, ...free };
  const asks = [toAsk(entry, event, timezone)];
  const [outcome] = await Promise.all(
    pool.judge(toHookEvent(event, undefined), event.channel === "timer" ? event.atMs : nowMs, asks),
  );
  const { value, error, llmCalls, costUsd, startedAtMs, endedAtMs } = outcome!;
  const cost = { llmCalls, costUsd, durationMs: endedAtMs - startedAtMs };
  if (error !== undefined) return { ...trial, error, ...cost };
  try {
    const verdict = normaliseResult(value);
    return { ...trial, fired: verdict.fire, result: verdict as unknown as Json, ...cost };
  } catch (problem) {
    return { ...trial, error: (problem as Error).message, ...cost };
  }
}

function unloadable(name: string, error: string): CortexError {
  return new CortexError("hook_failed", `The hook ${name} cannot be loaded: ${error}`, {
    hint: "Nothing was kept of it. Correct the code, and try again.",
  });
}

function fail(error: Error): never {
  throw error;
}

function unknown(name: string): CortexError {
  return new CortexError("hook_unknown", `No hook is called "${name}"`, {
    hint: "`cortex hooks` lists the hooks there are.",
  });
}
