/**
 * The writer as the main thread sees it: calls go in, promises come out.
 *
 * One batch is in flight at a time; calls that arrive meanwhile form the next one. So batches grow with the load, one
 * disk sync pays for up to 512 operations, and calls that follow from a commit join new arrivals in the next batch
 * instead of waiting for another.
 */
import { CortexError } from "../../model/errors.ts";
import type { Redact } from "../../model/redact.ts";
import type { WakeTopic } from "../store.ts";
import { Checkpointer } from "./checkpointer.ts";
import { storeClosed, storeFailure } from "./failure.ts";
import { type Input, OPERATION_NAMES, type OperationName, OPERATIONS, type Output } from "./operations.ts";
import type { Codec, Cell } from "./wire.ts";
import {
  type Connect,
  DONE,
  REFUSED,
  type Reply,
  WAKE_BIT,
  type WriterConnection,
} from "./writer-protocol.ts";

export const MAX_BATCH_OPERATIONS = 512;
/** Copying a batch to the thread blocks the main thread: about a millisecond for this much. */
export const MAX_BATCH_BYTES = 2 * 1024 * 1024;
/** New work beyond these is refused with `store_busy`; work in progress is not, since its own limits bound it. */
export const MAX_QUEUED_OPERATIONS = 20_000;
export const MAX_QUEUED_BYTES = 64 * 1024 * 1024;

interface WriterOptions {
  readonly path: string;
  readonly clock: () => number;
  readonly connect: Connect;
  readonly redact: Redact;
}

interface Call {
  /** Its part of the batch: code, time, input. */
  readonly cells: readonly Cell[];
  readonly weight: number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

const NEW_WORK: ReadonlySet<OperationName> = new Set(["acceptEvent", "dispatch"]);
const CODES = new Map(OPERATION_NAMES.map((name, code) => [name, code]));
const BACKGROUND = CODES.get("indexEvents");
const CODECS = OPERATION_NAMES.map((name) => OPERATIONS[name].input as Codec<unknown>);

export class Writer {
  readonly #path: string;
  readonly #clock: () => number;
  readonly #redact: Redact;
  readonly #connection: WriterConnection;
  readonly #checkpointer: Checkpointer;
  readonly #listeners: Record<WakeTopic, Set<() => void>> = {
    queue: new Set(),
    runs: new Set(),
    outbox: new Set(),
    changes: new Set(),
    hooks: new Set(),
  };
  #queue: Call[] = [];
  #queuedBytes = 0;
  #flight: Call[] | undefined;
  #due = false;
  #ended: CortexError | undefined;
  #idle: (() => void)[] = [];

  private constructor({ path, clock, redact }: WriterOptions, connection: WriterConnection) {
    this.#path = path;
    this.#clock = clock;
    this.#redact = redact;
    this.#connection = connection;
    this.#checkpointer = new Checkpointer(path, () => this.#kick());
    connection.onReply((reply) => this.#receive(reply));
    connection.onEnd((cause) => this.#end(writerLost(path, cause)));
  }

  static async open(options: WriterOptions): Promise<Writer> {
    const { path, clock, connect } = options;
    return new Writer(options, await connect({ path, nowMs: clock() }));
  }

  /** Resolves when the operation is on disk. Invalid input fails only this call. */
  async call<Name extends OperationName>(name: Name, input: Input<Name>): Promise<Output<Name>> {
    this.requireRunning();
    const code = CODES.get(name)!;
    const cells: Cell[] = [code, this.#clock()];
    CODECS[code]!.write(input, cells, this.#redact);
    const weight = weigh(cells);
    const full = this.#queue.length >= MAX_QUEUED_OPERATIONS || this.#queuedBytes + weight > MAX_QUEUED_BYTES;
    if (full && NEW_WORK.has(name)) throw busy(this.#queue.length);
    return new Promise((resolve, reject) => {
      this.#queue.push({ cells, weight, resolve, reject });
      this.#queuedBytes += weight;
      this.#kick();
    });
  }

  /** Throws what every call fails with from now on, if the writer was closed or has died. */
  requireRunning(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  onWake(topic: WakeTopic, listener: () => void): () => void {
    this.#listeners[topic].add(listener);
    return () => this.#listeners[topic].delete(listener);
  }

  /** Waits until all calls are settled. */
  async drain(): Promise<void> {
    while (this.#flight !== undefined || this.#queue.length > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  async close(): Promise<void> {
    await this.drain();
    await this.#checkpointer.close();
    if (this.#ended !== undefined) return;
    this.#end(storeClosed(this.#path));
    await this.#connection.close();
  }

  /** Stops as a crash would. Pending calls reject, though they may have been committed. */
  async terminate(): Promise<void> {
    this.#end(writerLost(this.#path, new Error("the writer was terminated")));
    await Promise.all([this.#connection.kill(), this.#checkpointer.close()]);
  }

  #kick(): void {
    if (this.#flight !== undefined || this.#due || this.#ended !== undefined) return;
    if (this.#queue.length === 0 && !this.#checkpointer.wantsFinish) return;
    this.#due = true;
    setImmediate(() => this.#post());
  }

  #post(): void {
    this.#due = false;
    if (this.#ended !== undefined) return;
    const flight = this.#takeBatch();
    const cells: Cell[] = [];
    for (const call of flight) for (const cell of call.cells) cells.push(cell);
    this.#flight = flight;
    this.#connection.post({ cells, checkpoint: this.#checkpointer.takeFinish() });
  }

  #takeBatch(): Call[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#queue.length && count < MAX_BATCH_OPERATIONS && bytes < MAX_BATCH_BYTES) {
      bytes += this.#queue[count++]!.weight;
    }
    this.#queuedBytes -= bytes;
    const batch = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    return batch;
  }

  #receive({ failure, results, wakes, walFrames }: Reply): void {
    if (this.#ended !== undefined) return; // its calls were rejected with store_writer_lost
    const flight = this.#flight!;
    this.#flight = undefined;
    flight.forEach((call, i) => {
      if (failure !== undefined) call.reject(storeFailure(asError(failure), this.#path));
      else settle(call, results[2 * i], results[2 * i + 1], this.#path);
    });
    this.#checkpointer.observe(walFrames, this.#queue.length === 0 && flight.every(isBackground));
    this.#kick();
    // After the callers of the promises above have continued.
    if (wakes > 0) queueMicrotask(() => this.#wake(wakes));
    if (this.#queue.length === 0) this.#rest();
  }

  #rest(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #wake(wakes: number): void {
    for (const topic of Object.keys(WAKE_BIT) as WakeTopic[]) {
      if ((wakes & WAKE_BIT[topic]) === 0) continue;
      for (const listener of this.#listeners[topic]) listener();
    }
  }

  #end(error: CortexError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    const lost = [...(this.#flight ?? []), ...this.#queue];
    this.#flight = undefined;
    this.#queue = [];
    for (const call of lost) call.reject(error);
    this.#rest();
  }
}

/** Work that nothing waits for. */
function isBackground({ cells }: Call): boolean {
  return cells[0] === BACKGROUND;
}

function settle(call: Call, ending: unknown, value: unknown, path: string): void {
  if (ending === DONE) return call.resolve(value as never);
  if (ending === REFUSED) {
    const { code, message, hint } = value as CortexError;
    return call.reject(new CortexError(code, message, { hint }));
  }
  call.reject(storeFailure(asError(value as { message: string; code: string }), path));
}

function asError(plain: { readonly message: string; readonly code: string }): Error {
  return Object.assign(new Error(plain.message), { code: plain.code });
}

/** The approximate size: strings in UTF-16 units, exact enough to bound a queue. */
function weigh(cells: readonly Cell[]): number {
  let weight = 0;
  for (const cell of cells) if (typeof cell === "string") weight += cell.length;
  return weight;
}

function busy(waiting: number): CortexError {
  return new CortexError("store_busy", `The store is overloaded: ${waiting} writes are queued`, {
    hint: "Retry in a moment.",
    transient: true,
  });
}

function writerLost(path: string, cause: unknown): CortexError {
  return new CortexError(
    "store_writer_lost",
    `The writer of ${path} has stopped; this call may or may not have been committed`,
    {
      hint: "Reopen the store and repeat the call; it takes effect once.",
      transient: true,
      cause,
    },
  );
}
