/**
 * Runs hooks in processes of their own.
 *
 * Many hooks share a warm process. If a process blocks, uses too much memory or exits, any hook with an open call may be the
 * cause. These suspects are called again, each alone in a process. A suspect that answers is cleared and returns to the
 * shared process. One that ends or blocks its process again is guilty: the call fails, and the hook runs alone until its
 * file changes. So a hook that spins delays the others once, for the second until it is detected.
 *
 * A hook may therefore be called twice for an event. Its result is used once.
 */
import type { GuardLimits } from "./guard.ts";
import type { HookEvent } from "../hook.ts";
import { Lane, type LaneEnd } from "./lane.ts";
import type { Ask, FromLane, HookSource, HookInspection, LaneData, ServiceCall } from "./lane-protocol.ts";

interface HookPoolOptions {
  readonly data: Omit<LaneData, "guard">;
  /** The environment variables configured for hooks, read for each new process. */
  readonly variables?: () => Readonly<Record<string, string>>;
  readonly timezone: () => string;
  readonly clock: () => number;
  readonly services: Services;
  /** Called if something that a hook started fails after the hook has returned. */
  readonly onLate: (hook: string | undefined, error: string) => void;
  readonly limits?: Partial<PoolLimits>;
}

/** The services of the main process for hooks. */
export interface Services {
  readonly query: (sql: string, params: readonly unknown[]) => Promise<unknown>;
  readonly search: (text: string, options: unknown) => Promise<unknown>;
  readonly llm: (prompt: string, options: unknown, signal: AbortSignal) => Promise<LlmAnswer>;
}

export interface LlmAnswer {
  readonly text: string;
  /** Null: unknown price. */
  readonly costUsd: number | null;
}

export interface PoolLimits extends GuardLimits {
  readonly deadlineMs: number;
  /** For a hook that has asked a model. */
  readonly llmDeadlineMs: number;
  /** How many pings in a row a process may miss. */
  readonly maxMissed: number;
  /** The same during its start, on a machine that may be busy. */
  readonly maxMissedAtStart: number;
  readonly hooksPerLane: number;
  readonly lanes: number;
  /** How many hooks run alone at the same time. One of these processes is reserved for hooks that are not guilty. */
  readonly soloLanes: number;
  /** A process is replaced after this many calls, because hooks leak. */
  readonly callsPerLane: number;
  /** How many timed-out calls a process may accumulate. */
  readonly maxAbandoned: number;
  /** How long processes are kept warm after the last event. */
  readonly warmMs: number;
}

export const POOL_LIMITS: PoolLimits = {
  deadlineMs: 10_000,
  llmDeadlineMs: 60_000,
  lookMs: 100,
  maxMissed: 10,
  maxMissedAtStart: 300,
  memoryMb: 256,
  hooksPerLane: 100,
  lanes: 2,
  soloLanes: 3,
  callsPerLane: 100_000,
  maxAbandoned: 20,
  warmMs: 300_000,
};

export type ToAsk = Omit<Ask, "call">;

/** The outcome of a call. Calls never reject: errors of a hook are outcomes. */
export interface HookOutcome {
  /** The returned value. Undefined after an error. */
  readonly value: unknown;
  readonly error: string | undefined;
  /** The call was dropped through no fault of the hook. */
  readonly isPassedOver: boolean;
  readonly llmCalls: number;
  readonly costUsd: number | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

interface Call {
  readonly id: number;
  readonly source: HookSource;
  readonly work:
    | { readonly kind: "inspect" }
    | { readonly kind: "judge"; readonly ask: ToAsk; readonly event: HookEvent; readonly nowMs: number };
  readonly settle: (outcome: HookOutcome) => void;
  readonly startedAtMs: number;
  readonly over: AbortController;
  deadline: NodeJS.Timeout | undefined;
  usedLlm: boolean;
  llmCalls: number;
  costUsd: number | null;
}

export class HookPool implements AsyncDisposable {
  readonly #options: HookPoolOptions;
  readonly #limits: PoolLimits;
  /** By seat: a hook stays in the process that loaded it. */
  readonly #lanes: (Lane<Call> | undefined)[] = [];
  readonly #seats = new Map<string, number>();
  readonly #alone = new Set<Lane<Call>>();
  readonly #waitingAlone: Call[] = [];
  /** Hooks that may have ended a process, and those that have: both run alone. */
  readonly #suspects = new Set<string>();
  readonly #guilty = new Set<string>();
  readonly #all = new Set<Lane<Call>>();
  readonly #abandoned = new Map<Lane<Call>, number>();
  #lastCall = 0;
  #lastEventMs = -Infinity;
  #looking: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: HookPoolOptions) {
    this.#options = options;
    this.#limits = { ...POOL_LIMITS, ...options.limits };
  }

  /** The number of processes. */
  get processes(): number {
    return this.#all.size;
  }

  /** Calls hooks with an event, in parallel. Returns one promise per hook, in the same order. */
  judge(event: HookEvent, nowMs: number, hooks: readonly ToAsk[]): Promise<HookOutcome>[] {
    this.#lastEventMs = this.#options.clock();
    return this.#place(hooks.map((ask) => this.#call(ask.source, { kind: "judge", ask, event, nowMs })));
  }

  /** Loads a file and describes its exports. */
  async inspect(source: HookSource): Promise<{ inspected: HookInspection } | { error: string }> {
    const call = this.#call(source, { kind: "inspect" });
    this.#assign([call.call]);
    const { value, error, isPassedOver } = await call.outcome;
    if (error !== undefined) return { error };
    return isPassedOver
      ? { error: "It was not loaded: Cortex is stopping" }
      : { inspected: value as HookInspection };
  }

  /** After files have changed: hooks are reloaded on their next call. */
  reload(changed: Iterable<string>): void {
    for (const name of changed) {
      this.#guilty.delete(name);
      this.#suspects.delete(name);
    }
    for (const lane of this.#all) this.#retire(lane);
  }

  /** Drops the waiting calls of a hook that must not be called any more. Calls in progress continue. */
  giveUp(name: string): void {
    for (const call of this.#takeWaiting(name)) this.#passOver(call);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearInterval(this.#looking);
    for (const call of this.#waitingAlone.splice(0)) this.#passOver(call);
    await Promise.all([...this.#all].map((lane) => lane.kill({ kind: "closed" })));
  }

  #call(source: HookSource, work: Call["work"]): { call: Call; outcome: Promise<HookOutcome> } {
    const { promise, resolve } = Promise.withResolvers<HookOutcome>();
    const call: Call = {
      id: ++this.#lastCall,
      source,
      work,
      settle: resolve,
      startedAtMs: this.#options.clock(),
      over: new AbortController(),
      deadline: undefined,
      usedLlm: false,
      llmCalls: 0,
      costUsd: 0,
    };
    return { call, outcome: promise };
  }

  #place(made: readonly { call: Call; outcome: Promise<HookOutcome> }[]): Promise<HookOutcome>[] {
    this.#assign(made.map(({ call }) => call));
    return made.map(({ outcome }) => outcome);
  }

  /** Assigns the calls for one event to processes. Calls to the same process are sent together. */
  #assign(calls: readonly Call[]): void {
    const byLane = new Map<Lane<Call>, Call[]>();
    for (const call of calls) {
      const { name } = call.source;
      if (this.#closed) this.#passOver(call);
      else if (this.#guilty.has(name) || this.#suspects.has(name)) this.#waitingAlone.push(call);
      else {
        const lane = this.#laneOf(name);
        const together = byLane.get(lane);
        if (together === undefined) byLane.set(lane, [call]);
        else together.push(call);
      }
    }
    for (const [lane, together] of byLane) this.#give(lane, together);
    this.#runAlone();
  }

  #laneOf(name: string): Lane<Call> {
    const { hooksPerLane, lanes } = this.#limits;
    const seat = this.#seats.get(name) ?? this.#seats.size;
    this.#seats.set(name, seat);
    return (this.#lanes[Math.floor(seat / hooksPerLane) % lanes] ??= this.#open());
  }

  #open(): Lane<Call> {
    const lane = new Lane<Call>({
      data: this.#options.data,
      limits: this.#limits,
      variables: this.#options.variables?.() ?? {},
      onMessage: (message, from) => this.#receive(message, from),
      onEnd: (cause, left, ended) => this.#onEnd(cause, left, ended),
    });
    this.#all.add(lane);
    return lane;
  }

  #give(lane: Lane<Call>, calls: readonly Call[]): void {
    const { callsPerLane } = this.#limits;
    const asks: Ask[] = [];
    for (const call of calls) {
      const { id, source, work } = call;
      lane.calls.set(id, call);
      if (lane.isReady) this.#setDeadline(call, lane);
      if (work.kind === "inspect") lane.post({ kind: "inspect", call: id, source });
      else asks.push({ call: id, ...work.ask });
    }
    const work = calls.find((call) => call.work.kind === "judge")?.work;
    if (work?.kind === "judge") {
      const timezone = this.#options.timezone();
      lane.post({ kind: "judge", event: work.event, nowMs: work.nowMs, timezone, asks });
    }
    lane.served += calls.length;
    if (lane.served > callsPerLane) this.#retire(lane);
    this.#looking ??= setInterval(() => this.#look(), this.#limits.lookMs).unref();
  }

  /**
   * The deadline of a call counts from its first attempt, including time lost in a process that was killed. Starting a
   * process does not count against the hook.
   */
  #setDeadline(call: Call, lane: Lane<Call>): void {
    const { deadlineMs, llmDeadlineMs } = this.#limits;
    const givenMs = call.usedLlm ? llmDeadlineMs : deadlineMs;
    const leftMs = Math.max(call.startedAtMs + givenMs - this.#options.clock(), givenMs / 2);
    clearTimeout(call.deadline);
    call.deadline = setTimeout(() => this.#expire(call, lane, givenMs), leftMs).unref();
  }

  #expire(call: Call, lane: Lane<Call>, givenMs: number): void {
    if (!lane.calls.delete(call.id)) return;
    this.#fail(call, `timed out after ${givenMs / 1_000} s`);
    if (this.#alone.has(lane)) {
      // A hook that waits forever blocks no other hook and has ended no process.
      if (lane.missed <= 1) this.#clear(call.source.name);
      else this.#guilty.add(call.source.name);
      void lane.kill({ kind: "silent" });
      return;
    }
    lane.post({ kind: "abort", call: call.id });
    const abandoned = (this.#abandoned.get(lane) ?? 0) + 1;
    this.#abandoned.set(lane, abandoned);
    if (abandoned > this.#limits.maxAbandoned) this.#retire(lane);
    else this.#closeIfDone(lane);
  }

  #receive(message: FromLane, lane: Lane<Call>): void {
    switch (message.kind) {
      case "ready":
        for (const call of lane.calls.values()) this.#setDeadline(call, lane);
        return;
      case "pong":
        return;
      case "late":
        this.#options.onLate(message.hook, message.error);
        return;
      case "request": {
        const call = lane.calls.get(message.call);
        if (call !== undefined) void this.#serve(call, lane, message);
        return;
      }
      case "done":
      case "failed": {
        const call = lane.calls.get(message.call);
        if (call === undefined) return; // it has timed out
        lane.calls.delete(message.call);
        if (message.kind === "failed") this.#settle(call, { value: undefined, error: message.error });
        else this.#settle(call, { value: parse(message.json), error: undefined });
        if (this.#alone.has(lane)) this.#clear(call.source.name);
        this.#closeIfDone(lane);
        this.#runAlone();
      }
    }
  }

  /** A suspect has answered: its waiting calls return to the shared process. */
  #clear(name: string): void {
    if (this.#guilty.has(name) || !this.#suspects.delete(name)) return;
    for (const call of this.#takeWaiting(name)) this.#assign([call]);
  }

  #takeWaiting(name: string): Call[] {
    const taken = this.#waitingAlone.filter(({ source }) => source.name === name);
    const rest = this.#waitingAlone.filter(({ source }) => source.name !== name);
    this.#waitingAlone.splice(0, this.#waitingAlone.length, ...rest);
    return taken;
  }

  async #serve(
    call: Call,
    lane: Lane<Call>,
    { request, service }: Extract<FromLane, { kind: "request" }>,
  ): Promise<void> {
    try {
      const value = await this.#carryOut(service, call, lane);
      lane.post({ kind: "answer", request, value });
    } catch (error) {
      lane.post({
        kind: "refusal",
        request,
        message: error instanceof Error ? error.message : String(error),
      });
    }
  }

  async #carryOut(service: ServiceCall, call: Call, lane: Lane<Call>): Promise<unknown> {
    const { query, search, llm } = this.#options.services;
    switch (service.kind) {
      case "query":
        return query(service.sql, service.params);
      case "search":
        return search(service.text, service.options);
      case "llm": {
        call.llmCalls++;
        if (!call.usedLlm) {
          call.usedLlm = true;
          this.#setDeadline(call, lane);
        }
        const { text, costUsd } = await llm(service.prompt, service.options, call.over.signal);
        call.costUsd = costUsd === null || call.costUsd === null ? null : call.costUsd + costUsd;
        return text;
      }
    }
  }

  /** Starts waiting calls that must run alone, as far as there is room. */
  #runAlone(): void {
    for (let call = this.#nextAlone(); call !== undefined; call = this.#nextAlone()) {
      const free = [...this.#alone].find(({ calls, retired }) => calls.size === 0 && !retired);
      const lane = free ?? this.#open();
      this.#alone.add(lane);
      this.#give(lane, [call]);
    }
  }

  /** One call per hook at a time. One process is never used for guilty hooks, so that suspects are cleared soon. */
  #nextAlone(): Call | undefined {
    const running = [...this.#alone].flatMap(({ calls }) => Array.from(calls.values()));
    const room = this.#limits.soloLanes - running.length;
    if (this.#closed || room <= 0) return undefined;
    const names = new Set(running.map(({ source }) => source.name));
    const place = this.#waitingAlone.findIndex(
      ({ source: { name } }) => !names.has(name) && (room > 1 || !this.#guilty.has(name)),
    );
    return place === -1 ? undefined : this.#waitingAlone.splice(place, 1)[0];
  }

  #onEnd(cause: LaneEnd, left: readonly Call[], lane: Lane<Call>): void {
    const wasAlone = this.#alone.delete(lane);
    this.#all.delete(lane);
    this.#abandoned.delete(lane);
    const seat = this.#lanes.indexOf(lane);
    if (seat !== -1) this.#lanes[seat] = undefined;
    for (const call of left) {
      if (cause.kind === "closed") this.#passOver(call);
      else if (wasAlone) {
        this.#guilty.add(call.source.name);
        this.#fail(call, describe(cause));
      } else {
        clearTimeout(call.deadline);
        this.#suspects.add(call.source.name);
        this.#waitingAlone.push(call);
      }
    }
    this.#runAlone();
  }

  #look(): void {
    const { maxMissed, maxMissedAtStart } = this.#limits;
    let busy = false;
    for (const lane of this.#all) {
      if (lane.calls.size === 0) continue;
      busy = true;
      const allowed = lane.isReady ? maxMissed : maxMissedAtStart;
      const isSilent = lane.missed > allowed;
      // A hook that runs alone may use its whole time: it blocks no other hook.
      const hasTime = this.#alone.has(lane) && lane.isReady;
      if (isSilent && !hasTime) void lane.kill({ kind: "silent" });
      else lane.ping();
      if (isSilent && hasTime) for (const { source } of lane.calls.values()) this.#guilty.add(source.name);
    }
    if (busy) return;
    // Processes for single hooks are kept only while some hooks must run alone.
    if (this.#guilty.size + this.#suspects.size === 0) for (const lane of this.#alone) this.#retire(lane);
    if (this.#options.clock() - this.#lastEventMs >= this.#limits.warmMs)
      for (const lane of this.#all) this.#retire(lane);
    if (this.#all.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #retire(lane: Lane<Call>): void {
    lane.retired = true;
    const seat = this.#lanes.indexOf(lane);
    if (seat !== -1) this.#lanes[seat] = undefined;
    this.#closeIfDone(lane);
  }

  #closeIfDone(lane: Lane<Call>): void {
    if (lane.retired && lane.calls.size === 0) void lane.kill({ kind: "closed" });
  }

  #fail(call: Call, what: string): void {
    this.#settle(call, { value: undefined, error: `The hook ${what}` });
  }

  #passOver(call: Call): void {
    this.#settle(call, { value: undefined, error: undefined, isPassedOver: true });
  }

  #settle(call: Call, result: Pick<HookOutcome, "value" | "error"> & Partial<HookOutcome>): void {
    clearTimeout(call.deadline);
    call.over.abort();
    const { llmCalls, costUsd, startedAtMs } = call;
    const endedAtMs = this.#options.clock();
    call.settle({ isPassedOver: false, llmCalls, costUsd, startedAtMs, endedAtMs, ...result });
  }
}

function describe(cause: Exclude<LaneEnd, { kind: "closed" }>): string {
  switch (cause.kind) {
    case "silent":
      return "blocked its process";
    case "memory":
      return `used more than ${cause.limitMb} MB of memory`;
    case "exit":
      return `ended its process with process.exit(${cause.code})`;
    case "crash":
      return `ended its process: ${cause.error}`;
  }
}

function parse(json: string | undefined): unknown {
  return json === undefined ? undefined : (JSON.parse(json) as unknown);
}
