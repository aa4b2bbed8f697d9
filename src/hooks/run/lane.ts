/**
 * The parent's view of a process that runs hooks: its unanswered calls, and whether it is alive. When the process ends, for
 * any reason, its owner gets back the remaining calls.
 *
 * It is not a thread, because a thread cannot be terminated reliably: a loop compiled by V8, or a query of SQLite, may never
 * check for termination, and its memory counts against the whole program.
 */
import { fileURLToPath } from "node:url";

import { ownModule } from "../../model/own-files.ts";
import { type ChildProcess, launchModule } from "../../programs/launch.ts";
import type { GuardLimits } from "./guard.ts";
import type { FromLane, LaneData, ToLane } from "./lane-protocol.ts";

interface LaneOptions<Call> {
  readonly data: Omit<LaneData, "guard">;
  readonly limits: GuardLimits;
  /** The environment variables configured for hooks. */
  readonly variables: Readonly<Record<string, string>>;
  readonly onMessage: (message: FromLane, lane: Lane<Call>) => void;
  /** Called once, with the unanswered calls. */
  readonly onEnd: (cause: LaneEnd, left: readonly Call[], lane: Lane<Call>) => void;
}

/** Why a process ended. */
export type LaneEnd =
  | { readonly kind: "closed" }
  | { readonly kind: "silent" }
  | { readonly kind: "memory"; readonly limitMb: number }
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "crash"; readonly error: string };

export class Lane<Call> {
  readonly calls = new Map<number, Call>();
  /** How many calls it has received so far. */
  served = 0;
  /** It gets no more calls, and is closed after its current ones. */
  retired = false;
  /** How many pings in a row are unanswered. */
  missed = 0;
  isReady = false;
  readonly #options: LaneOptions<Call>;
  readonly #child: ChildProcess;
  #hasEnded = false;
  readonly #gone = Promise.withResolvers<void>();

  constructor(options: LaneOptions<Call>) {
    this.#options = options;
    const { data, limits, variables } = options;
    const { memoryMb, lookMs } = limits;
    const laneData: LaneData = { ...data, guard: { memoryMb, lookMs, parent: process.pid } };
    this.#child = launchModule({
      path: fileURLToPath(ownModule("hooks/run/hook-process")),
      args: [JSON.stringify(laneData)],
      variables,
      flags: ["--disable-warning=ExperimentalWarning"],
      output: "inherit",
    });
    this.#child.on("message", (messages) => {
      this.missed = 0;
      this.isReady = true;
      for (const message of messages as readonly FromLane[])
        if (!this.#hasEnded) options.onMessage(message, this);
    });
    this.#child.on("error", (error) => {
      this.#end({ kind: "crash", error: `${error.name}: ${error.message}` });
      if (this.#child.pid === undefined) this.#gone.resolve(); // it never started
    });
    this.#child.on("exit", (code, signal) => {
      this.#end(causeOf(code, signal, memoryMb));
      this.#gone.resolve();
    });
    this.#child.unref();
    this.#child.channel?.unref();
  }

  post(message: ToLane): void {
    this.#child.send(message, () => {}); // the end of the process is reported separately
  }

  ping(): void {
    this.missed++;
    this.post({ kind: "ping" });
  }

  /** Kills the process. Its calls are handed back at once. */
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
    this.#options.onEnd(cause, left, this);
  }
}

/** Only its guard and the system send SIGKILL, both because of its memory use. */
function causeOf(code: number | null, signal: NodeJS.Signals | null, limitMb: number): LaneEnd {
  if (signal === "SIGKILL") return { kind: "memory", limitMb };
  return signal === null ? { kind: "exit", code: code ?? 0 } : { kind: "crash", error: signal };
}
