/**
 * 2: hooks judge every event, each for itself and all at the same time.
 *
 * What is to be judged is in the store, and so is which hook has judged what: an event that was left by a crash is
 * judged again, and hooks that have judged it are not asked again. As soon as a hook fires, its dispatch is made in
 * the commit that records it; those that do not fire are recorded together, when the last has been heard.
 *
 * What several hooks ask for of one event is one turn. So a dispatch waits while others have not answered, for
 * `gatherMs` at most; it is the queue item that waits, in the store, and not the judge. What comes later is in the turn
 * that has begun, or after it.
 */
import { CortexError } from "../../model/errors.ts";
import { DIRECT_HOOK } from "../../model/hook-order.ts";
import type { EventId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import type {
  LeaseRequest,
  NewDispatch,
  NewHookRun,
  Recorded,
  SilentHookRun,
  Store,
  StoredEvent,
  StoredHook,
  Unjudged,
} from "../../store/store.ts";
import type { Catalogue, Entry } from "./catalogue.ts";
import { matchPatterns, missedMinute, passes, skippedMinute } from "./filter.ts";
import { toHookEvent } from "../hook-event.ts";
import { isDefaultHook } from "../hook-name.ts";
import { normaliseResult, type Verdict } from "./normalise-result.ts";
import type { CallOutcome, HookPool, ToAsk } from "../run/pool.ts";

export type Fired = Extract<Verdict, { fire: true }>;

export interface JudgeParts {
  readonly store: Pick<Store, "onWake"> & {
    readonly hooks: Pick<Store["hooks"], "unjudged" | "judged" | "record" | "hold">;
    readonly events: Pick<Store["events"], "dispatches">;
  };
  readonly catalogue: Catalogue;
  readonly pool: HookPool;
  readonly clock: () => number;
  readonly timezone: () => string;
  /** How long what a hook asks for waits for hooks that have not answered. */
  readonly gatherMs: () => number;
  /**
   * What a fired hook asks for. Undefined: its sender may not ask for anything, so nothing is done; or what it asked
   * for is done, and it is no message. It may be asked again for the same event and hook, after a crash. What it
   * throws, a target that does not exist say, is an error of the hook.
   */
  readonly dispatchFor: (
    event: StoredEvent,
    hook: string,
    verdict: Fired,
  ) => Promise<Omit<NewDispatch, "hook"> | undefined>;
  /** Records with a request for a lease where a slot is free, and carries the claim out that comes of it. */
  readonly withSlot: (record: (claim: LeaseRequest | undefined) => Promise<Recorded>) => Promise<Recorded>;
  /**
   * Told of an event whose chain is as long as it may be, and the hook that wanted to add to it, before that is recorded:
   * after a crash in between it is told again.
   */
  readonly onChainEnded: (event: EventId, hook: string) => Promise<void>;
  /** Told of a hook that failed too often and is paused from now on. */
  readonly onOpened: (hook: StoredHook) => void;
  /** Told of what is judged again later, and why. */
  readonly onProblem: (error: unknown, event: StoredEvent | undefined) => void;
}

/** How many events are judged at the same time. One waits for its slowest hook, so it is a large number. */
export const MAX_JUDGING = 1_000;
const PAGE = 100;
/** Wake-ups can be lost, and so can what the store could not write just now. */
const POLL_MS = 2_000;
/** How long what default hooks have asked for waits, at most, for the relay of an exclusive hook to start. */
export const MAX_HOLD_MS = 60_000;

export class Judge implements AsyncDisposable {
  readonly #parts: JudgeParts;
  readonly #judging = new Map<string, Promise<void>>();
  /** Hooks that are paused and being tried again, by their one try. */
  readonly #trying = new Set<string>();
  readonly #taking: WakeLoop;
  #stopping = false;
  /** The place of the last event that was taken up. */
  #after = 0;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
    const { store, onProblem } = parts;
    this.#taking = new WakeLoop({
      round: ({ isPoll }) => this.#takeAll(isPoll),
      listen: (wake) => store.onWake("hooks", wake),
      pollMs: POLL_MS,
      onProblem: (error) => onProblem(error, undefined),
      keepsAlive: true,
    });
  }

  start(): void {
    this.#taking.start();
  }

  /** Takes no more events. Those whose hooks have not ended are judged after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    await this.#taking[Symbol.asyncDispose]();
    await Promise.all(this.#judging.values());
  }

  /** A poll looks at all that is not judged, also at what failed. */
  async #takeAll(isPoll: boolean): Promise<void> {
    if (isPoll) this.#after = 0;
    while (!this.#stopping) {
      const limit = Math.min(PAGE, MAX_JUDGING - this.#judging.size);
      if (limit === 0) return; // whoever makes room wakes us
      const found = await this.#parts.store.hooks.unjudged({ limit, after: this.#after });
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
        if (!this.#stopping) this.#parts.onProblem(error, event);
      })
      .finally(() => {
        const wasFull = this.#judging.size >= MAX_JUDGING;
        this.#judging.delete(event.id);
        if (wasFull) this.#taking.wake();
      });
    this.#judging.set(event.id, judging);
  }

  async #judge({ event, asked }: Unjudged): Promise<void> {
    const { store, pool, clock, timezone } = this.#parts;
    const nowMs = clock();
    const { entries, broken, paused } = await this.#wanted(event, asked, nowMs);
    const skipped = this.#skipped(event, nowMs);
    const unasked = [...skipped, ...paused.map((name) => [name, PAUSED] as const)].filter(
      ([name]) => !asked.includes(name) && !entries.some(({ stored }) => stored.name === name),
    );
    const silent = unasked.map(([hook, reason]) => skippedRun(hook, reason, nowMs));
    if (entries.length + broken.length === 0) return store.hooks.judged(event.id, silent);
    const hookEvent = toHookEvent(event, await this.#explicitTarget(event));
    // A schedule is judged by the minute that the event stands for, however late that is.
    const outcomes = pool.judge(
      hookEvent,
      event.channel === "timer" ? event.atMs : nowMs,
      entries.map((entry) => toAsk(entry, event, timezone())),
    );
    let open = outcomes.length;
    const exclusive: Promise<boolean>[] = [];
    const runs = await Promise.all([
      ...outcomes.map(async (outcome, at) => {
        const answered = await outcome;
        const entry = entries[at]!;
        const reason = skipped.get(entry.stored.name);
        try {
          return await this.#conclude(event, entry, answered, {
            othersAreOpen: open > 1,
            exclusive,
            skipped: reason,
          });
        } finally {
          open--; // only now: one that has answered may still silence the others
        }
      }),
      ...broken.map(({ entry, error }) =>
        this.#conclude(event, entry, notAsked(error, nowMs, clock()), {
          othersAreOpen: false,
          exclusive,
          skipped: undefined,
        }),
      ),
    ]);
    if (this.#stopping && runs.includes("left")) return; // and is judged after the next start
    await store.hooks.judged(event.id, [...runs.filter((run) => typeof run === "object"), ...silent]);
  }

  /** Which hooks have missed a time that they do not want to make up for, and why that is. */
  #skipped(event: StoredEvent, nowMs: number): Map<string, string> {
    const { catalogue, timezone } = this.#parts;
    const skipped = new Map<string, string>();
    for (const { entry, isDue } of catalogue.enabled(nowMs)) {
      if (!isDue) continue;
      const { filter, stored } = entry;
      const missedMs = skippedMinute(filter, event, {
        timezone: timezone(),
        createdAtMs: stored.createdAtMs,
      });
      if (missedMs !== undefined) skipped.set(stored.name, skipReason(missedMs));
    }
    return skipped;
  }

  /**
   * Those to ask; those whose pattern could not be matched, which is an error of theirs; and those that would be asked
   * if they were not paused.
   */
  async #wanted(event: StoredEvent, asked: readonly string[], nowMs: number): Promise<Wanted> {
    const { catalogue, timezone } = this.#parts;
    const usual = timezone();
    const passing = [...catalogue.enabled(nowMs)].filter(
      ({ entry: { filter, stored } }) =>
        !asked.includes(stored.name) &&
        passes(filter, event, { timezone: usual, createdAtMs: stored.createdAtMs }),
    );
    const matched = await matchPatterns(
      passing.map(({ entry }) => entry.filter),
      event,
    );
    const wanted: Wanted = { entries: [], broken: [], paused: [] };
    for (const [at, { entry, isDue }] of passing.entries()) {
      const { name, state } = entry.stored;
      const found = matched[at]!;
      if (found === false) continue;
      if (!isDue || this.#trying.has(name)) {
        wanted.paused.push(name);
        continue;
      }
      if (state === "open") this.#trying.add(name);
      if (found === true) wanted.entries.push(entry);
      else wanted.broken.push({ entry, error: found.message });
    }
    return wanted;
  }

  /** The session of a message that was sent with a target. */
  async #explicitTarget({ id }: StoredEvent): Promise<SessionKey | undefined> {
    const dispatches = await this.#parts.store.events.dispatches(id);
    return dispatches.find(({ hook }) => hook === DIRECT_HOOK)?.session;
  }

  /** Records what a hook said, at once where something follows from it. Gives back what can be recorded with the rest. */
  async #conclude(
    event: StoredEvent,
    entry: Entry,
    outcome: CallOutcome,
    { othersAreOpen, exclusive, skipped }: Beside,
  ): Promise<SilentHookRun | "recorded" | "left"> {
    const { name } = entry.stored;
    const wasTried = this.#trying.has(name);
    try {
      if (outcome.isPassedOver) return "left";
      const judged = this.#read(outcome);
      const run = toRun(name, outcome, judged, skipped);
      if (judged.verdict?.fire !== true) {
        if (judged.error === undefined && !judged.verdict.disable && !wasTried) return run;
        await this.#record({ ...run, event: event.id, fired: false });
        return "recorded";
      }
      const firing = this.#fire(event, run, judged.verdict, { othersAreOpen, exclusive });
      if (judged.verdict.exclusive) exclusive.push(firing);
      await firing;
      return "recorded";
    } finally {
      this.#trying.delete(name);
    }
  }

  #read({ value, error }: CallOutcome): Judged {
    if (error !== undefined) return { error };
    try {
      return { verdict: normaliseResult(value) };
    } catch (problem) {
      if (!(problem instanceof CortexError)) throw problem;
      return { error: problem.message };
    }
  }

  async #fire(
    event: StoredEvent,
    run: SilentHookRun,
    verdict: Fired,
    { othersAreOpen, exclusive }: Omit<Beside, "skipped">,
  ): Promise<boolean> {
    const { store, dispatchFor, catalogue, gatherMs } = this.#parts;
    const { disable } = verdict;
    const isDefault = isDefaultHook(run.hook);
    const waits = isDefault && !verdict.exclusive; // two that silence each other must not wait for each other
    const silences = verdict.exclusive ? catalogue.names().filter(isDefaultHook) : [];
    try {
      // What they have asked for is taken back when this firing is recorded; until then it must not begin.
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
        ...(dispatch === undefined
          ? {}
          : { dispatch: othersAreOpen ? { ...dispatch, gatherMs: gatherMs() } : dispatch }),
      });
      return true;
    } catch (error) {
      if (!isOfTheHook(error)) throw error;
      if (error.code === "chain_ended") await this.#parts.onChainEnded(event.id, run.hook);
      await this.#record({ ...run, event: event.id, fired: false, error: error.message });
      return false;
    }
  }

  async #record(run: NewHookRun): Promise<void> {
    const { store, catalogue, pool, withSlot, onOpened } = this.#parts;
    const { state } =
      run.dispatch === undefined
        ? await store.hooks.record(run)
        : await withSlot((claim) => store.hooks.record(claim === undefined ? run : { ...run, claim }));
    const stored = await catalogue.refresh(run.hook);
    if (state === "active") return;
    pool.giveUp(run.hook);
    if (state === "open" && stored !== undefined) onOpened(stored);
  }
}

/** Whether one of these firings has silenced the default hooks. All are recorded then, also those added meanwhile. */
async function isTaken(exclusive: readonly Promise<boolean>[]): Promise<boolean> {
  for (;;) {
    const count = exclusive.length;
    const settled = await Promise.allSettled(exclusive);
    if (count === exclusive.length) return settled.some((each) => each.status === "fulfilled" && each.value);
  }
}

/** What a hook is told beside the event. */
export function toAsk({ source, stored, filter }: Entry, event: StoredEvent, timezone: string): ToAsk {
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

/** What goes on beside a hook that has answered. */
interface Beside {
  readonly othersAreOpen: boolean;
  /** Firings that silence the default hooks, some of them not recorded yet. False: it failed. */
  readonly exclusive: Promise<boolean>[];
  readonly skipped: string | undefined;
}

interface Wanted {
  readonly entries: Entry[];
  readonly broken: { readonly entry: Entry; readonly error: string }[];
  readonly paused: string[];
}

function notAsked(error: string, startedAtMs: number, endedAtMs: number): CallOutcome {
  return { value: undefined, error, isPassedOver: false, llmCalls: 0, costUsd: 0, startedAtMs, endedAtMs };
}

type Judged =
  | { readonly verdict: Verdict; readonly error?: undefined }
  | { readonly verdict?: undefined; readonly error: string };

function toRun(
  hook: string,
  outcome: CallOutcome,
  { verdict, error }: Judged,
  skipped: string | undefined,
): SilentHookRun {
  const { llmCalls, costUsd, startedAtMs, endedAtMs } = outcome;
  return {
    hook,
    ...(verdict === undefined ? { error } : { result: toJson({ ...verdict, ...(skipped && { skipped }) }) }),
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

/** Why a hook was not asked that would have been. */
const PAUSED = "was not asked: it is paused after repeated failures";

function skipReason(missedMs: number): string {
  const at = new Date(missedMs).toISOString();
  return `missed its scheduled time ${at} because Cortex was not running, and its catchUp is "skip"`;
}

function toJson(verdict: Verdict & { readonly skipped?: string }): NonNullable<SilentHookRun["result"]> {
  return verdict as unknown as NonNullable<SilentHookRun["result"]>; // it came as JSON
}

/** What is wrong with a target is the hook's doing; a store that is full is not. */
function isOfTheHook(error: unknown): error is CortexError {
  return error instanceof CortexError && !error.transient && !error.code.startsWith("store_");
}
