import { existsSync } from "node:fs";
import { join } from "node:path";

import { configFolder, SESSION_SCRIPTS_FILE } from "../config/read.ts";
import type { SessionScriptParts, SessionScriptRunner } from "./scripts/session-scripts.ts";

/** How often it is looked whether there is a file with scripts, where there was none. */
const LOOK_MS = 1_000;

/** Most homes have no scripts of sessions: what runs them is loaded when there is a file that names some. */
export class PreparedSessionScripts implements AsyncDisposable {
  readonly #parts: Omit<SessionScriptParts, "isNew">;
  readonly #file: string;
  #timer: NodeJS.Timeout | undefined;
  #opening: Promise<SessionScriptRunner | undefined> | undefined;
  #isClosed = false;

  constructor(parts: Omit<SessionScriptParts, "isNew">) {
    this.#parts = parts;
    this.#file = join(configFolder(parts.home), SESSION_SCRIPTS_FILE);
  }

  /** To be awaited before any turn is taken up: what happens from then on is seen. */
  async start(): Promise<void> {
    await this.#look(false);
    if (this.#opening === undefined) this.#timer = setInterval(() => void this.#look(true), LOOK_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await (await this.#opening)?.[Symbol.asyncDispose]();
  }

  async #look(isNew: boolean): Promise<void> {
    if (this.#isClosed || !existsSync(this.#file)) return;
    clearInterval(this.#timer);
    this.#opening ??= open({ ...this.#parts, isNew });
    await this.#opening;
  }
}

async function open(parts: SessionScriptParts): Promise<SessionScriptRunner | undefined> {
  try {
    const { SessionScriptRunner: Runner } = await import("./scripts/session-scripts.ts");
    const runner = new Runner(parts);
    await runner.start();
    return runner;
  } catch (error) {
    parts.log(`The scripts of sessions are not run: ${String(error)}`);
    return undefined;
  }
}
