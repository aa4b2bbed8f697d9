/**
 * 2: hooks judge every event, independently and at the same time.
 *
 * The store holds what has to be judged and which hook has judged what: an event left by a crash is judged again, and
 * hooks that have judged it are not asked again. As soon as a hook fires, its dispatch is made in the commit that records
 * it; hooks that do not fire are recorded together, once the last one has answered.
 *
 * What several hooks ask for on one event is one turn. So a dispatch waits for hooks that have not answered, for
 * `gatherMs` at most; the queue item waits, in the store, not the judge. What comes later joins the turn that has begun,
 * or follows it.
 */
import { CortexError } from "../../model/errors.ts";
import { DIRECT_HOOK } from "../../model/hook-order.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import type { NewDispatch, NewHookRun, SilentHookRun, StoredEvent, Unjudged } from "../../store/store.ts";
import type { Settings } from "../../config/settings.ts";
import type { Ports } from "../../feature/ports.ts";
import type { Catalogue, ReadyHook } from "./catalogue.ts";
import { matchPatterns, missedMinute, passes, skippedMinute } from "./filter.ts";
import type { HookEvent } from "../hook.ts";
import { toHookEvent } from "../hook-event.ts";
import { isDefaultHook } from "../hook-name.ts";
import { normaliseResult, type HookVerdict } from "./normalise-result.ts";
import type { HookOutcome, HookPool, ToAsk } from "../run/pool.ts";

/** The verdict of a hook that fires. */
export type Firing = Extract<HookVerdict, { fire: true }>;

/**
 * Makes the dispatch of a hook that fires. Undefined: the sender may not ask for anything, or the request is already
 * carried out and is not a message. After a crash it may be called again for the same event and hook. What it throws, an
 * unknown target for example, is an error of the hook.
 */
export type DispatchFor = (
  event: StoredEvent,
  hook: string,
  verdict: Firing,
) => Promise<Omit<NewDispatch, "hook"> | undefined>;

type JudgePorts = Pick<Ports, "store" | "clock" | "slots" | "onChainEnded" | "log"> & {
  readonly settings: Pick<Settings, "config">;
};

/** The hooks, and what answers for them. */
interface HookBench {
  readonly catalogue: Catalogue;
  readonly pool: HookPool;
  readonly dispatchFor: DispatchFor;
}

/** How many events are judged at the same time. Large, because each waits for its slowest hook. */
export const MAX_JUDGING = 1_000;
const PAGE = 100;
/** Catches up on lost wake-ups and on what the store could not write. */
const POLL_MS = 2_000;
/** How long dispatches of default hooks wait, at most, for the relay of an exclusive hook to start. */
export const MAX_HOLD_MS = 60_000;

export class Judge implements AsyncDisposable {
  readonly #ports: JudgePorts;
  readonly #bench: HookBench;
  readonly #judging = new Map<string, Promise<void>>();
  /** Paused hooks that are being tried again, once. */
  readonly #trying = new Set<string>();
  readonly #taking: WakeLoop;
  #stopping = false;
  /** The position of the last event that was taken up. */
  #after = 0;

  constructor(ports: JudgePorts, bench: HookBench) {
    this.#ports = ports;
    this.#bench = bench;
    this.#taking = new WakeLoop({
      round: ({ isPoll }) => this.#takeAll(isPoll),
      listen: (wake) => ports.store.onWake("hooks", wake),
      pollMs: POLL_MS,
      onProblem: (error) => this.#postpone(error),
      keepsAlive: true,
    });
  }

  start(): void {
    this.#taking.start();
  }

  /** Takes no more events. Those with unfinished hooks are judged after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    await this.#taking[Symbol.asyncDispose]();
    await Promise.all(this.#judging.values());
  }

  /** A poll starts over with everything that is not judged, also what failed. */
  async #takeAll(isPoll: boolean): Promise<void> {
    if (isPoll) this.#after = 0;
    while (!this.#stopping) {
      const limit = Math.min(PAGE, MAX_JUDGING - this.#judging.size);
      if (limit === 0) return; // whoever makes room wakes us
      const found = await this.#ports.store.hooks.unjudged({ limit, after: this.#after });
      for (const unjudged of found) this.#take(unjudged);
      if (found.length < limit) return;
    }
  }

  #take(unjudged: Unjudged): void {
    const { event, place } = unjudged;
    this.#after = Math.max(this.#after, place);
    if (this.#judging.has(event.id) || this.#stopping) return;
    const judging = this.#judge(unjudged)
      .catch((error: unknown) => {
        if (!this.#stopping) this.#postpone(error, event);
      })
      .finally(() => {
        const wasFull = this.#judging.size >= MAX_JUDGING;
        this.#judging.delete(event.id);
        if (wasFull) this.#taking.wake();
      });
    this.#judging.set(event.id, judging);
  }

  async #judge({ event, asked }: Unjudged): Promise<void> {
    const { store, clock } = this.#ports;
    const nowMs = clock();
    const { hooks, broken, paused } = await this.#select(event, asked, nowMs);
    const skipped = this.#skipped(event, nowMs);
    const unasked = [...skipped, ...paused.map((name) => [name, PAUSED] as const)].filter(
      ([name]) => !asked.includes(name) && !hooks.some(({ stored }) => stored.name === name),
    );
    const silent = unasked.map(([hook, reason]) => skippedRun(hook, reason, nowMs));
    if (hooks.length + broken.length === 0) return store.hooks.judged(event.id, silent);
    const hookEvent = toHookEvent(event, await this.#explicitTarget(event));
    const exclusive: Promise<boolean>[] = [];
    let open = hooks.length;
    const runs = await Promise.all([
      ...this.#ask(hooks, event, hookEvent, nowMs).map(async ({ hook, outcome }) => {
        const answered = await outcome;
        try {
          const skippedTime = skipped.get(hook.stored.name);
          const others = { areOpen: open > 1, exclusive };
          return await this.#conclude(event, hook, answered, others, skippedTime);
        } finally {
          open--; // only now: a hook that has answered may still silence the others
        }
      }),
      ...broken.map(({ hook, error }) =>
        this.#conclude(event, hook, notAsked(error, nowMs, clock()), { areOpen: false, exclusive }),
      ),
    ]);
    if (this.#stopping && runs.includes("left")) return; // judged after the next start
    await store.hooks.judged(event.id, [...runs.filter((run) => typeof run === "object"), ...silent]);
  }

  #ask(
    hooks: readonly ReadyHook[],
    event: StoredEvent,
    hookEvent: HookEvent,
    nowMs: number,
  ): { readonly hook: ReadyHook; readonly outcome: Promise<HookOutcome> }[] {
    const { timezone } = this.#ports.settings.config();
    const asks = hooks.map((hook) => toAsk(hook, event, timezone));
    // A schedule is judged by the minute that the event stands for, however late that is.
    const outcomes = this.#bench.pool.judge(hookEvent, event.channel === "timer" ? event.atMs : nowMs, asks);
    return hooks.map((hook, at) => ({ hook, outcome: outcomes[at]! }));
  }

  /** Hooks that missed a time and do not catch up on it, with the reason. */
  #skipped(event: StoredEvent, nowMs: number): Map<string, string> {
    const { timezone } = this.#ports.settings.config();
    const skipped = new Map<string, string>();
    for (const { hook, isDue } of this.#bench.catalogue.enabled(nowMs)) {
      if (!isDue) continue;
      const { name, createdAtMs } = hook.stored;
      const missedMs = skippedMinute(hook.filter, event, { timezone, createdAtMs });
      if (missedMs !== undefined) skipped.set(name, skipReason(missedMs));
    }
    return skipped;
  }

  async #select(event: StoredEvent, asked: readonly string[], nowMs: number): Promise<Selection> {
    const { timezone } = this.#ports.settings.config();
    const passing = [...this.#bench.catalogue.enabled(nowMs)].filter(
      ({ hook: { filter, stored } }) =>
        !asked.includes(stored.name) && passes(filter, event, { timezone, createdAtMs: stored.createdAtMs }),
    );
    const matched = await matchPatterns(
      passing.map(({ hook }) => hook.filter),
      event,
    );
    const selection: Selection = { hooks: [], broken: [], paused: [] };
    for (const [at, { hook, isDue }] of passing.entries()) {
      const { name, state } = hook.stored;
      const match = matched[at]!;
      if (match === false) continue;
      if (!isDue || this.#trying.has(name)) {
        selection.paused.push(name);
        continue;
      }
      if (state === "open") this.#trying.add(name);
      if (match === true) selection.hooks.push(hook);
      else selection.broken.push({ hook, error: match.message });
    }
    return selection;
  }

  /** The session of a message that was sent with a target. */
  async #explicitTarget({ id }: StoredEvent): Promise<SessionKey | undefined> {
    const dispatches = await this.#ports.store.events.dispatches(id);
    return dispatches.find(({ hook }) => hook === DIRECT_HOOK)?.session;
  }

  /** Records an answer, at once if something follows from it. Returns what can be recorded with the rest. */
  async #conclude(
    event: StoredEvent,
    { stored: { name } }: ReadyHook,
    outcome: HookOutcome,
    others: OtherHooks,
    skipped?: string,
  ): Promise<SilentHookRun | "recorded" | "left"> {
    const wasTried = this.#trying.has(name);
    try {
      if (outcome.isPassedOver) return "left";
      const answer = readAnswer(outcome);
      const run = toRun(name, outcome, answer, skipped);
      if (answer.verdict?.fire !== true) {
        if (answer.error === undefined && !answer.verdict.disable && !wasTried) return run;
        await this.#record({ ...run, event: event.id, fired: false });
        return "recorded";
      }
      const firing = this.#fire(event, run, answer.verdict, others);
      if (answer.verdict.exclusive) others.exclusive.push(firing);
      await firing;
      return "recorded";
    } finally {
      this.#trying.delete(name);
    }
  }

  /** False: it failed. */
  async #fire(
    event: StoredEvent,
    run: SilentHookRun,
    verdict: Firing,
    { areOpen, exclusive }: OtherHooks,
  ): Promise<boolean> {
    const { store, settings, onChainEnded } = this.#ports;
    const { catalogue, dispatchFor } = this.#bench;
    const { gatherMs } = settings.config().hooks;
    const { disable } = verdict;
    const isDefault = isDefaultHook(run.hook);
    const waits = isDefault && !verdict.exclusive; // two that silence each other must not wait for each other
    const silences = verdict.exclusive ? catalogue.names().filter(isDefaultHook) : [];
    try {
      // Their dispatches are taken back when this firing is recorded; until then they must not start.
      if (silences.length > 0) await store.hooks.hold(event.id, silences, MAX_HOLD_MS);
      const isSilenced = waits && (await isTaken(exclusive));
      const dispatch = isSilenced ? undefined : await dispatchFor(event, run.hook, verdict);
      if (waits) await isTaken(exclusive); // recorded after those that silence it
      await this.#record({
        ...run,
        event: event.id,
        fired: true,
        disable,
        ...(verdict.exclusive ? { silences } : {}),
        yields: isDefault,
        ...(dispatch === undefined ? {} : { dispatch: areOpen ? { ...dispatch, gatherMs } : dispatch }),
      });
      return true;
    } catch (error) {
      if (!isOfTheHook(error)) throw error;
      // Before it is recorded: after a crash in between, the owner is told again.
      if (error.code === "chain_ended") await onChainEnded(event.id, `the hook ${run.hook}`);
      await this.#record({ ...run, event: event.id, fired: false, error: error.message });
      return false;
    }
  }

  async #record(run: NewHookRun): Promise<void> {
    const { store, slots, log } = this.#ports;
    const { catalogue, pool } = this.#bench;
    const { state } =
      run.dispatch === undefined
        ? await store.hooks.record(run)
        : await slots.withSlot(async (claim) => {
            const result = await store.hooks.record(claim === undefined ? run : { ...run, claim });
            return { result, claim: result.dispatched?.claim };
          });
    const stored = await catalogue.refresh(run.hook);
    if (state === "active") return;
    pool.giveUp(run.hook);
    if (state === "open") log(`Hook ${run.hook} is paused after repeated failures: ${stored?.error}`);
  }

  #postpone(error: unknown, event?: StoredEvent): void {
    const what = event === undefined ? "Judging events" : `Judging the event ${event.id}`;
    this.#ports.log(`${what} failed and is retried: ${String(error)}`);
  }
}

/** Whether one of these firings silenced the default hooks. All are recorded by then, also those added meanwhile. */
async function isTaken(exclusive: readonly Promise<boolean>[]): Promise<boolean> {
  for (;;) {
    const count = exclusive.length;
    const settled = await Promise.allSettled(exclusive);
    if (count === exclusive.length) return settled.some((each) => each.status === "fulfilled" && each.value);
  }
}

/** What a hook is told beside the event. */
export function toAsk({ source, stored, filter }: ReadyHook, event: StoredEvent, timezone: string): ToAsk {
  const { name, title, createdAtMs, triggers, triggeredAtMs } = stored;
  return {
    source,
    self: {
      id: name,
      name: title,
      created_at: createdAtMs,
      trigger_count: triggers,
      last_triggered: triggeredAtMs ?? null,
    },
    missedMs: missedMinute(filter, event, { timezone, createdAtMs }),
  };
}

/** The other hooks of the same event. */
interface OtherHooks {
  /** Whether some of them have not answered yet. */
  readonly areOpen: boolean;
  /** Firings that silence the default hooks, some of them not recorded yet. False: it failed. */
  readonly exclusive: Promise<boolean>[];
}

interface Selection {
  readonly hooks: ReadyHook[];
  /** Hooks whose pattern could not be matched: an error of the hook. */
  readonly broken: { readonly hook: ReadyHook; readonly error: string }[];
  /** Hooks that would be asked if they were not paused. */
  readonly paused: string[];
}

function notAsked(error: string, startedAtMs: number, endedAtMs: number): HookOutcome {
  return { value: undefined, error, isPassedOver: false, llmCalls: 0, costUsd: 0, startedAtMs, endedAtMs };
}

type Answer =
  | { readonly verdict: HookVerdict; readonly error?: undefined }
  | { readonly verdict?: undefined; readonly error: string };

function readAnswer({ value, error }: HookOutcome): Answer {
  if (error !== undefined) return { error };
  try {
    return { verdict: normaliseResult(value) };
  } catch (problem) {
    if (!(problem instanceof CortexError)) throw problem;
    return { error: problem.message };
  }
}

function toRun(
  hook: string,
  outcome: HookOutcome,
  { verdict, error }: Answer,
  skipped: string | undefined,
): SilentHookRun {
  const { llmCalls, costUsd, startedAtMs, endedAtMs } = outcome;
  return {
    hook,
    ...(verdict === undefined ? { error } : { result: { ...verdict, ...(skipped && { skipped }) } }),
    ...(verdict?.disable === true ? { disable: true } : {}),
    llmCalls,
    costUsd,
    startedAtMs,
    endedAtMs,
  };
}

function skippedRun(hook: string, skipped: string, nowMs: number): SilentHookRun {
  const result = { fire: false, skipped };
  return { hook, result, startedAtMs: nowMs, endedAtMs: nowMs, wasSkipped: true };
}

/** Why a hook that would have been asked was not. */
const PAUSED = "was not asked: it is paused after repeated failures";

function skipReason(missedMs: number): string {
  const at = new Date(missedMs).toISOString();
  return `missed its scheduled time ${at} because Cortex was not running, and its catchUp is "skip"`;
}

/** What is wrong with a target is the hook's doing; a store that is full is not. */
function isOfTheHook(error: unknown): error is CortexError {
  return error instanceof CortexError && !error.transient && !error.code.startsWith("store_");
}
