/**
 * Runs session scripts: `onMessageEnd` after a turn that answers a person, `onNew` after `/new`. The output of a script is
 * sent to the agent of the session.
 *
 * The runner follows the change feed. The ledger records its position and the scripts that started, so no script runs
 * twice or is missed after a crash, and a script interrupted by a crash is reported. A turn started by a script's output
 * answers no person and runs no script.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { configFolder, SESSION_SCRIPTS_FILE } from "../../config/read.ts";
import { count } from "../../model/count.ts";
import { CortexError } from "../../model/errors.ts";
import { present } from "../../model/present.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import type { Ports } from "../../feature/ports.ts";
import { runCommand } from "./script.ts";
import { ScriptProcesses } from "./script-processes.ts";
import { readSessionScripts, type SessionMoment } from "../templates/session-scripts-file.ts";
import type { RelayScript } from "../templates/snapshot.ts";
import type { Change } from "../../store/store.ts";
import { ScriptLog, type StartedRun } from "./session-script-log.ts";
import { describeOccasion, dispatchOutput, type Occasion, variablesOf } from "./session-occasion.ts";

/** How many run at the same time. */
export const MAX_SESSION_SCRIPTS = 8;
/** Changes older than this when they are first seen are skipped, with a log line. */
export const MAX_LATE_MS = 3_600_000;
/** Wake-ups can be lost, and the file can be removed and created. */
const LOOK_MS = 1_000;
/** Changes per read. */
const BATCH = 500;

export class SessionScriptRunner implements AsyncDisposable {
  readonly #ports: Ports;
  readonly #ledger: ScriptLog;
  readonly #processes: ScriptProcesses;
  readonly #running = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  readonly #loop: WakeLoop;
  /** The last change processed. Undefined: not following the feed. */
  #at: number | undefined;
  #isNew: boolean;
  #reported = "";

  /** A new file does not apply to changes made before it existed. */
  constructor(ports: Ports, { isNew }: { readonly isNew: boolean }) {
    this.#ports = ports;
    this.#ledger = new ScriptLog(ports);
    this.#processes = new ScriptProcesses(ports, join(ports.home, "data", "session-scripts.json"));
    this.#isNew = isNew;
    const { store, log } = ports;
    this.#loop = new WakeLoop({
      round: () => this.#look(),
      listen: (wake) => store.onWake("changes", wake),
      pollMs: LOOK_MS,
      onProblem: (error) => log(`Session scripts failed, retrying: ${String(error)}`),
    });
  }

  /** Await it before any turn starts: no later change is missed. */
  async start(): Promise<void> {
    await this.#processes.endStrays();
    if (this.#isThere()) this.#at = await this.#begin().catch(() => undefined); // the loop tries again
    this.#loop.start();
  }

  /** Stops running scripts and records that, and the position, for the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#loop[Symbol.asyncDispose]();
    await Promise.all(this.#running);
    if (this.#at !== undefined) await this.#ledger.mark(this.#at);
  }

  get #isClosed(): boolean {
    return this.#abort.signal.aborted;
  }

  #isThere(): boolean {
    return existsSync(join(configFolder(this.#ports.home), SESSION_SCRIPTS_FILE));
  }

  async #look(): Promise<void> {
    if (this.#isThere()) {
      this.#at ??= await this.#begin();
      await this.#follow();
    } else {
      this.#at = undefined;
      this.#isNew = true;
    }
  }

  /** The position to continue from: that of the previous process. A new file starts with the next change. */
  async #begin(): Promise<number> {
    const position = this.#isNew ? undefined : await this.#ledger.position();
    if (position !== undefined) {
      // It is unknown how far an interrupted script came, so it is not run again.
      for (const started of await this.#ledger.cutOff())
        await this.#fail(started, "Cortex stopped while it was running");
      return position;
    }
    const at = await this.#ports.store.changes.last();
    await this.#ledger.mark(at);
    return at;
  }

  async #follow(): Promise<void> {
    const { store, clock, log } = this.#ports;
    let late = 0;
    while (this.#at !== undefined) {
      const { changes, seq, gap } = await store.changes.since(this.#at, { limit: BATCH });
      if (gap) log("The change feed was truncated; some session scripts were skipped.");
      for (const change of changes) {
        if (this.#isClosed) return;
        const moment = momentOf(change);
        if (moment === undefined) continue;
        if (clock() - change.atMs > MAX_LATE_MS) late++;
        else await this.#consider(change, moment);
      }
      const isDone = seq === this.#at;
      this.#at = seq;
      if (isDone) break;
    }
    if (late > 0) log(`Session scripts were skipped for ${count(late, "turn")} that ended too long ago.`);
  }

  async #consider(change: Change, moment: SessionMoment): Promise<void> {
    const script = await this.#scriptFor(moment);
    if (script === undefined) return;
    const occasion = await describeOccasion(change, this.#ports);
    if (occasion === undefined) return;
    while (this.#running.size >= MAX_SESSION_SCRIPTS) await Promise.race(this.#running);
    if (this.#isClosed) return;
    const { session, turn = null } = occasion;
    const started = await this.#ledger.begin(change.seq, { moment, session, turn, command: script.command });
    if (started === undefined) return;
    const run = this.#run(started, script, occasion)
      .catch((error: unknown) => this.#ports.log(`${describe(started)}: ${String(error)}`))
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  /** Logs the same problems only once. */
  async #scriptFor(moment: SessionMoment): Promise<RelayScript | undefined> {
    const { scripts, problems } = await readSessionScripts(configFolder(this.#ports.home));
    const text = problems.map(({ source, path, message }) => `${source} ${path} ${message}`).join("; ");
    if (text !== "" && text !== this.#reported) this.#ports.log(`Invalid session scripts: ${text}`);
    this.#reported = text;
    return scripts[moment];
  }

  async #run(started: StartedRun, script: RelayScript, occasion: Occasion): Promise<void> {
    const { home } = this.#ports;
    const { context } = occasion;
    const end = await runCommand({
      script,
      home,
      context,
      signal: this.#abort.signal,
      run: this.#processes.runner(variablesOf(context)),
    });
    if (end.kind === "failed") return this.#fail(started, end.error);
    const output = end.output.trim();
    try {
      if (output === "") await this.#ledger.end(started);
      else await this.#say(started, output, occasion);
    } catch (error) {
      if (!(error instanceof CortexError) || error.code === "store_writer_lost") throw error;
      await this.#fail(started, error.message);
    }
  }

  /** Sends the output to the session, in one commit with the record of the script's end. */
  async #say(started: StartedRun, content: string, occasion: Occasion): Promise<void> {
    const { store, mintId, slots } = this.#ports;
    const dispatch = dispatchOutput(occasion, mintId);
    const { cause, audience } = occasion;
    const event = { ...this.#ledger.endOf(started, content), ...present({ cause, audience }) };
    await slots.withSlot(async (claim) => {
      const accepted = await store.events.accept(event, { dispatch, ...present({ claim }) });
      return { result: undefined, claim: accepted.dispatched?.claim };
    });
  }

  async #fail(started: StartedRun, error: string): Promise<void> {
    const line = `${describe(started)}: ${error.replaceAll(/\s+/g, " ").trim()}`;
    this.#ports.log(line);
    await this.#ledger.fail(started, line);
  }
}

function momentOf(change: Change): SessionMoment | undefined {
  if (change.kind === "session") return change.what === "reset" ? "onNew" : undefined;
  const isAnswer = change.kind === "turn" && change.type === "normal" && change.status === "completed";
  return isAnswer ? "onMessageEnd" : undefined;
}

function describe({ facts: { moment, session } }: StartedRun): string {
  return `Script ${moment} of ${session} failed`;
}
