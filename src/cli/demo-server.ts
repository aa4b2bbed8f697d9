/** The server process of the demo. It never outlives the demo, however that ends. */
import { once } from "node:events";

import type { ChildProcess } from "../programs/launch.ts";
import type { Invocation } from "../feature/command.ts";
import type { RunningServer } from "../client/server.ts";
import { startServer } from "../client/start-server.ts";

/** Killed if still running by then. */
const STOP_LIMIT_MS = 5_000;

export class DemoServer implements AsyncDisposable {
  readonly #home: string;
  readonly #environment: Invocation["environment"];
  #child: ChildProcess | undefined;
  #isClosed = false;

  constructor(home: string, environment: Invocation["environment"]) {
    this.#home = home;
    this.#environment = environment;
  }

  /** Resolves once it responds. */
  async start(): Promise<RunningServer> {
    if (this.#isClosed) throw new Error("The demo is over");
    const { child, ready } = startServer(this.#home, { environment: this.#environment, isTied: true });
    this.#child = child;
    return ready;
  }

  /** `kill -9`; resolves once it has exited. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Stops it for good; a second call meanwhile kills it. */
  async [Symbol.asyncDispose](): Promise<void> {
    const signal = this.#isClosed ? "SIGKILL" : "SIGTERM";
    this.#isClosed = true;
    await this.#end(signal);
  }

  /** For the exit handler, which cannot wait. */
  killNow(): void {
    this.#isClosed = true;
    this.#child?.kill("SIGKILL");
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    await exited;
    clearTimeout(late);
  }
}
