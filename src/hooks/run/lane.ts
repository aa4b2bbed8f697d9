/**
 * One process that runs hooks, seen from ours: the calls that it has not answered, and whether it still gives signs of
 * life. When it ends, for whatever reason, whoever owns it is given the calls that were left.
 *
 * It is no thread, because a thread cannot be ended for certain: a loop that V8 has compiled, or a query of SQLite, may
 * never look whether it is to stop. What it takes until then is memory of the whole program.
 */
import { fileURLToPath } from "node:url";

import { type ChildProcess, launchModule } from "../../programs/launch.ts";
import type { GuardLimits } from "./guard.ts";
import type { FromLane, LaneData, ToLane } from "./lane-protocol.ts";

export interface LaneParts<Call> {
  readonly data: Omit<LaneData, "guard">;
  readonly limits: GuardLimits;
  /** Those that were named for hooks. */
  readonly variables: Readonly<Record<string, string>>;
  readonly onMessage: (message: FromLane, lane: Lane<Call>) => void;
  /** With the calls that it had not answered. Told once. */
  readonly onEnd: (cause: LaneEnd, left: readonly Call[], lane: Lane<Call>) => void;
}

/** Why a process is no more, as the end of the sentence "The hook …". */
export type LaneEnd =
  | { readonly kind: "closed" }
  | { readonly kind: "silent" }
  | { readonly kind: "memory"; readonly limitMb: number }
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "crash"; readonly error: string };

export class Lane<Call> {
  readonly calls = new Map<number, Call>();
  /** How many calls it was given so far. */
  served = 0;
  /** It is given no more calls, and is closed when those that it has are done. */
  retired = false;
  /** How many looks in a row it has not answered. */
  missed = 0;
  isReady = false;
  readonly #parts: LaneParts<Call>;
  readonly #child: ChildProcess;
  #hasEnded = false;
  readonly #gone = Promise.withResolvers<void>();

  constructor(parts: LaneParts<Call>) {
    this.#parts = parts;
    const { data, limits, variables } = parts;
    const { memoryMb, lookMs } = limits;
    const name = `hook-process.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`;
    const given: LaneData = { ...data, guard: { memoryMb, lookMs, parent: process.pid } };
    this.#child = launchModule({
      path: fileURLToPath(new URL(name, import.meta.url)),
      args: [JSON.stringify(given)],
      variables,
      flags: ["--disable-warning=ExperimentalWarning"],
      output: "inherit",
    });
    this.#child.on("message", (messages) => {
      this.missed = 0;
      this.isReady = true;
      for (const message of messages as readonly FromLane[])
        if (!this.#hasEnded) parts.onMessage(message, this);
    });
    this.#child.on("error", (error) => {
      this.#end({ kind: "crash", error: `${error.name}: ${error.message}` });
      if (this.#child.pid === undefined) this.#gone.resolve(); // it was never there
    });
    this.#child.on("exit", (code, signal) => {
      this.#end(causeOf(code, signal, memoryMb));
      this.#gone.resolve();
    });
    this.#child.unref();
    this.#child.channel?.unref();
  }

  post(message: ToLane): void {
    this.#child.send(message, () => {}); // one that is gone has told so, or will
  }

  /** Asks for a sign of life. */
  look(): void {
    this.missed++;
    this.post({ kind: "ping" });
  }

  /** Ends the process, whatever it is doing. Its calls are handed back at once. */
  kill(cause: LaneEnd): Promise<void> {
    this.#end(cause);
    this.#child.kill("SIGKILL");
    return this.#gone.promise;
  }

  #end(cause: LaneEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const left = [...this.calls.values()];
    this.calls.clear();
    this.#parts.onEnd(cause, left, this);
  }
}

/** Nobody else kills it: it was its guard, or the system, and both do so for the memory that it takes. */
function causeOf(code: number | null, signal: NodeJS.Signals | null, limitMb: number): LaneEnd {
  if (signal === "SIGKILL") return { kind: "memory", limitMb };
  return signal === null ? { kind: "exit", code: code ?? 0 } : { kind: "crash", error: signal };
}
