/**
 * Runs hooks in processes of their own.
 *
 * Many hooks share a warm process. One that stops answering, takes too much memory or exits is ended, and then nobody
 * knows which of its hooks did it: all that it had not heard from are suspects, and are asked again, each alone in a
 * process. Whoever answers is cleared and goes back to the others. The one that ends that process too, or holds it up, is
 * guilty; it is charged with it, and runs alone until its file has changed. So a hook that spins delays the others
 * once, by the second that it takes to notice.
 *
 * A hook may therefore be asked twice about an event. What it returns is taken once.
 */
import type { GuardLimits } from "./guard.ts";
import type { HookEvent } from "../hook.ts";
import { Lane, type LaneEnd } from "./lane.ts";
import type { Ask, FromLane, HookSource, HookInspection, LaneData, ServiceCall } from "./lane-protocol.ts";

export interface PoolParts {
  readonly data: Omit<LaneData, "guard">;
  /** Those that were named for hooks, for each process that is started. */
  readonly variables?: () => Readonly<Record<string, string>>;
  readonly timezone: () => string;
  readonly clock: () => number;
  readonly services: Services;
  /** Told of what a hook left behind: something that it began has failed after it gave its result. */
  readonly onLate: (hook: string | undefined, error: string) => void;
  readonly limits?: Partial<PoolLimits>;
}

/** What hooks may ask for, by way of the main process. Each is aborted when the call is over. */
export interface Services {
  readonly query: (sql: string, params: readonly unknown[]) => Promise<unknown>;
  readonly search: (text: string, options: unknown) => Promise<unknown>;
  readonly llm: (prompt: string, options: unknown, signal: AbortSignal) => Promise<LlmAnswer>;
}

export interface LlmAnswer {
  readonly text: string;
  /** Null where the price is not known. */
  readonly costUsd: number | null;
}

export interface PoolLimits extends GuardLimits {
  readonly deadlineMs: number;
  /** Once it has asked a model. */
  readonly llmDeadlineMs: number;
  /** How many looks in a row a process may miss. */
  readonly maxMissed: number;
  /** The same for one that is being started, on a machine that may be busy. */
  readonly maxMissedAtStart: number;
  readonly hooksPerLane: number;
  readonly lanes: number;
  /** How many hooks run alone at the same time. One of these processes is never for those that are known as guilty. */
  readonly soloLanes: number;
  /** A process is replaced after so many calls: hooks leave things behind. */
  readonly callsPerLane: number;
  /** How many calls that were never answered a process may carry along. */
  readonly maxAbandoned: number;
  /** How long after the last event processes are kept warm. */
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

/** How a call went. It never rejects: what a hook does wrong is an outcome. */
export interface CallOutcome {
  /** What it returned. Where there is an error, undefined. */
  readonly value: unknown;
  readonly error: string | undefined;
  /** It was not asked, or not to the end, through no fault of its own: there is nothing to charge it with. */
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
  readonly settle: (outcome: CallOutcome) => void;
  readonly startedAtMs: number;
  readonly over: AbortController;
  deadline: NodeJS.Timeout | undefined;
  usedLlm: boolean;
  llmCalls: number;
  costUsd: number | null;
}

export class HookPool implements AsyncDisposable {
  readonly #parts: PoolParts;
  readonly #limits: PoolLimits;
  /** By seat: a hook stays in the process that has loaded it. */
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

  constructor(parts: PoolParts) {
    this.#parts = parts;
    this.#limits = { ...POOL_LIMITS, ...parts.limits };
  }

  /** How many processes there are. */
  get processes(): number {
    return this.#all.size;
  }

  /** Asks hooks about an event, all at the same time. One promise for each, in their order. */
  judge(event: HookEvent, nowMs: number, hooks: readonly ToAsk[]): Promise<CallOutcome>[] {
    this.#lastEventMs = this.#parts.clock();
    return this.#place(hooks.map((ask) => this.#call(ask.source, { kind: "judge", ask, event, nowMs })));
  }

  /** Loads a file and says what it exports. */
  async inspect(source: HookSource): Promise<{ inspected: HookInspection } | { error: string }> {
    const [outcome] = await Promise.all(this.#place([this.#call(source, { kind: "inspect" })]));
    const { value, error, isPassedOver } = outcome!;
    if (error !== undefined) return { error };
    return isPassedOver
      ? { error: "It was not loaded: Cortex is stopping" }
      : { inspected: value as HookInspection };
  }

  /** Files have changed: hooks are loaded anew when they are asked next. */
  reload(changed: Iterable<string>): void {
    for (const name of changed) {
      this.#guilty.delete(name);
      this.#suspects.delete(name);
    }
    for (const lane of this.#all) this.#retire(lane);
  }

  /** A hook is not to be asked any more: its calls that wait are given up. Those under way come to their end. */
  giveUp(name: string): void {
    for (const call of this.#takeWaiting(name)) this.#passOver(call);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearInterval(this.#looking);
    for (const call of this.#waitingAlone.splice(0)) this.#passOver(call);
    await Promise.all([...this.#all].map((lane) => lane.kill({ kind: "closed" })));
  }

  #call(source: HookSource, work: Call["work"]): { call: Call; outcome: Promise<CallOutcome> } {
    const { promise, resolve } = Promise.withResolvers<CallOutcome>();
    const call: Call = {
      id: ++this.#lastCall,
      source,
      work,
      settle: resolve,
      startedAtMs: this.#parts.clock(),
      over: new AbortController(),
      deadline: undefined,
      usedLlm: false,
      llmCalls: 0,
      costUsd: 0,
    };
    return { call, outcome: promise };
  }

  #place(made: readonly { call: Call; outcome: Promise<CallOutcome> }[]): Promise<CallOutcome>[] {
    this.#assign(made.map(({ call }) => call));
    return made.map(({ outcome }) => outcome);
  }

  /** Gives calls about one event to processes; those that go to the same process go together. */
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
    if (!this.#seats.has(name)) this.#seats.set(name, this.#seats.size);
    const seat = Math.floor(this.#seats.get(name)! / hooksPerLane) % lanes;
    return (this.#lanes[seat] ??= this.#open());
  }

  #open(): Lane<Call> {
    const lane = new Lane<Call>({
      data: this.#parts.data,
      limits: this.#limits,
      variables: this.#parts.variables?.() ?? {},
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
      const timezone = this.#parts.timezone();
      lane.post({ kind: "judge", event: work.event, nowMs: work.nowMs, timezone, asks });
    }
    lane.served += calls.length;
    if (lane.served > callsPerLane) this.#retire(lane);
    this.#looking ??= setInterval(() => this.#look(), this.#limits.lookMs).unref();
  }

  /**
   * The time of a hook begins when it is first asked. What it has used up in a process that was ended is gone; while a
   * process starts, it is not the hook that takes long.
   */
  #setDeadline(call: Call, lane: Lane<Call>): void {
    const { deadlineMs, llmDeadlineMs } = this.#limits;
    const givenMs = call.usedLlm ? llmDeadlineMs : deadlineMs;
    const leftMs = Math.max(call.startedAtMs + givenMs - this.#parts.clock(), givenMs / 2);
    clearTimeout(call.deadline);
    call.deadline = setTimeout(() => this.#expire(call, lane, givenMs), leftMs).unref();
  }

  #expire(call: Call, lane: Lane<Call>, givenMs: number): void {
    if (!lane.calls.delete(call.id)) return;
    this.#fail(call, `had no result after ${givenMs / 1_000} s`);
    if (this.#alone.has(lane)) {
      // One that waits for something for ever holds nobody up, and has ended no process.
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
        this.#parts.onLate(message.hook, message.error);
        return;
      case "request": {
        const call = lane.calls.get(message.call);
        if (call !== undefined) void this.#serve(call, lane, message);
        return;
      }
      case "done":
      case "failed": {
        const call = lane.calls.get(message.call);
        if (call === undefined) return; // its time was over
        lane.calls.delete(message.call);
        if (message.kind === "failed") this.#settle(call, { value: undefined, error: message.error });
        else this.#settle(call, { value: parse(message.json), error: undefined });
        if (this.#alone.has(lane)) this.#clear(call.source.name);
        this.#closeIfDone(lane);
        this.#runAlone();
      }
    }
  }

  /** A suspect has answered: what else it was to be asked goes to where the others are. */
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
    const { query, search, llm } = this.#parts.services;
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

  /** Starts what waits to run alone, as far as there is room for it. */
  #runAlone(): void {
    for (let call = this.#nextAlone(); call !== undefined; call = this.#nextAlone()) {
      const free = [...this.#alone].find(({ calls, retired }) => calls.size === 0 && !retired);
      const lane = free ?? this.#open();
      this.#alone.add(lane);
      this.#give(lane, [call]);
    }
  }

  /** Of each hook one call at a time, and one process is never for the guilty: the innocent are to be cleared soon. */
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
      // Alone, a hook has its whole time: it is in nobody's way.
      const hasTime = this.#alone.has(lane) && lane.isReady;
      if (isSilent && !hasTime) void lane.kill({ kind: "silent" });
      else lane.look();
      if (isSilent && hasTime) for (const { source } of lane.calls.values()) this.#guilty.add(source.name);
    }
    if (busy) return;
    // Processes for single hooks are kept only where one of them will come again.
    if (this.#guilty.size + this.#suspects.size === 0) for (const lane of this.#alone) this.#retire(lane);
    if (this.#parts.clock() - this.#lastEventMs >= this.#limits.warmMs)
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

  #settle(call: Call, result: Pick<CallOutcome, "value" | "error"> & Partial<CallOutcome>): void {
    clearTimeout(call.deadline);
    call.over.abort();
    const { llmCalls, costUsd, startedAtMs } = call;
    const endedAtMs = this.#parts.clock();
    call.settle({ isPassedOver: false, llmCalls, costUsd, startedAtMs, endedAtMs, ...result });
  }
}

function describe(cause: Exclude<LaneEnd, { kind: "closed" }>): string {
  switch (cause.kind) {
    case "silent":
      return "did not give way to anything else";
    case "memory":
      return `took more than ${cause.limitMb} MB of memory`;
    case "exit":
      return `ended its process with process.exit(${cause.code})`;
    case "crash":
      return `ended its process: ${cause.error}`;
  }
}

function parse(json: string | undefined): unknown {
  return json === undefined ? undefined : (JSON.parse(json) as unknown);
}
