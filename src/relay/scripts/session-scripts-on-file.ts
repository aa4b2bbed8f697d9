import { existsSync } from "node:fs";
import { join } from "node:path";

import { configFolder, SESSION_SCRIPTS_FILE } from "../../config/read.ts";
import type { Ports } from "../../feature/ports.ts";
import type { SessionScriptRunner } from "./session-scripts.ts";

/** How long a new scripts file may go unnoticed. */
const LOOK_MS = 1_000;

/** Most homes have no session scripts, so their runner is only loaded once the scripts file exists. */
export class SessionScriptsOnFile implements AsyncDisposable {
  readonly #ports: Ports;
  readonly #file: string;
  #timer: NodeJS.Timeout | undefined;
  #opening: Promise<SessionScriptRunner | undefined> | undefined;
  #isClosed = false;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#file = join(configFolder(ports.home), SESSION_SCRIPTS_FILE);
  }

  /** Await it before any turn starts: no later change is missed. */
  async start(): Promise<void> {
    await this.#look({ isNew: false });
    if (this.#opening === undefined)
      this.#timer = setInterval(() => void this.#look({ isNew: true }), LOOK_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await (await this.#opening)?.[Symbol.asyncDispose]();
  }

  async #look(file: { readonly isNew: boolean }): Promise<void> {
    if (this.#isClosed || !existsSync(this.#file)) return;
    clearInterval(this.#timer);
    this.#opening ??= this.#open(file);
    await this.#opening;
  }

  async #open(file: { readonly isNew: boolean }): Promise<SessionScriptRunner | undefined> {
    try {
      const { SessionScriptRunner: Runner } = await import("./session-scripts.ts");
      const runner = new Runner(this.#ports, file);
      await runner.start();
      return runner;
    } catch (error) {
      this.#ports.log(`Cannot run session scripts: ${String(error)}`);
      return undefined;
    }
  }
}
