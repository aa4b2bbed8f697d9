/**
 * Runs the scripts of sessions: `onMessageEnd` after a turn that answers a person, `onNew` after `/new`. What a script
 * writes is said to the agent of the session.
 *
 * What is to be done follows from the feed of changes, and the ledger says how far that was looked at and which scripts
 * have begun: none is run twice, none is passed over after a crash, and one that a crash cut off is told of. A turn that
 * came of a script answers no person, and runs none.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { configFolder, SESSION_SCRIPTS_FILE } from "../../config/read.ts";
import { count } from "../../model/count.ts";
import { CortexError } from "../../model/errors.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import type { Ports } from "../../feature/ports.ts";
import { runCommand } from "./script.ts";
import { ScriptProcesses } from "./script-processes.ts";
import { readSessionScripts, type SessionMoment } from "../templates/session-scripts-file.ts";
import type { RelayScript } from "../templates/snapshot.ts";
import type { Change, NewEvent } from "../../store/store.ts";
import { type Begun, ScriptLog } from "./session-script-log.ts";
import { describeOccasion, dispatchFor, type Occasion, variablesOf } from "./session-occasion.ts";

/** How many run at the same time. */
export const MAX_SESSION_SCRIPTS = 8;
/** What happened longer ago than this while nobody looked is passed over, and that is said. */
export const MAX_LATE_MS = 3_600_000;
/** Wake-ups can be lost, and the file can go and come. */
const LOOK_MS = 1_000;
/** Changes that are read at a time. */
const BATCH = 500;

export class SessionScriptRunner implements AsyncDisposable {
  readonly #ports: Ports;
  readonly #ledger: ScriptLog;
  readonly #processes: ScriptProcesses;
  readonly #running = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  readonly #loop: WakeLoop;
  /** The change that was looked at last. Undefined: nobody looks. */
  #at: number | undefined;
  #isNew: boolean;
  #told = "";

  /** A file that is new does not mean what happened before it was there. */
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

  /** To be awaited before anything is taken up: what happens from then on is seen. */
  async start(): Promise<void> {
    await this.#processes.endStrays();
    if (this.#isThere()) this.#at = await this.#begin().catch(() => undefined); // and once more below
    this.#loop.start();
  }

  /** Scripts are ended, and that is recorded; also how far was looked, so that the next start need not look again. */
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

  /** Where to go on: after what the process before this one has begun. A file that is new begins with what comes now. */
  async #begin(): Promise<number> {
    const position = this.#isNew ? undefined : await this.#ledger.position();
    if (position !== undefined) {
      // Nobody knows how far those came that a crash has cut off: they are not run again.
      for (const begun of await this.#ledger.cutOff())
        await this.#fail(begun, "Cortex ended in the middle of it");
      return position;
    }
    const at = await this.#ports.store.changes.last();
    await this.#ledger.mark(at);
    return at;
  }

  async #follow(): Promise<void> {
    const { store, clock, log } = this.#ports;
    let late = 0;
    for (;;) {
      const { changes, seq, gap } = await store.changes.since(this.#at!, { limit: BATCH });
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
    const begun = await this.#ledger.begin(change.seq, { moment, session, turn, command: script.command });
    if (begun === undefined) return;
    const run = this.#run(begun, script, occasion)
      .catch((error: unknown) => this.#ports.log(`${describe(begun)}: ${String(error)}`))
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  /** What is wrong with the file is said once. */
  async #scriptFor(moment: SessionMoment): Promise<RelayScript | undefined> {
    const { scripts, problems } = await readSessionScripts(configFolder(this.#ports.home));
    const text = problems.map(({ source, path, message }) => `${source} ${path} ${message}`).join("; ");
    if (text !== "" && text !== this.#told) this.#ports.log(`Invalid session scripts: ${text}`);
    this.#told = text;
    return scripts[moment];
  }

  async #run(begun: Begun, script: RelayScript, occasion: Occasion): Promise<void> {
    const { home } = this.#ports;
    const { context } = occasion;
    const end = await runCommand({
      script,
      home,
      context,
      signal: this.#abort.signal,
      run: this.#processes.runner(variablesOf(context)),
    });
    if (end.kind === "failed") return this.#fail(begun, end.error);
    const output = end.output.trim();
    try {
      if (output === "") await this.#ledger.end(begun);
      else await this.#say(begun, output, occasion);
    } catch (error) {
      if (!(error instanceof CortexError) || error.code === "store_writer_lost") throw error;
      await this.#fail(begun, error.message);
    }
  }

  /** What the script wrote, as a message to the session: one commit with the record that it has ended. */
  async #say(begun: Begun, content: string, occasion: Occasion): Promise<void> {
    const { store, mintId, slots } = this.#ports;
    const dispatch = dispatchFor(occasion, mintId);
    await slots.withSlot(async (claim) => {
      const accepted = await store.events.accept(
        { ...this.#ledger.endOf(begun, content), ...causeOf(occasion) },
        {
          dispatch,
          ...(claim === undefined ? {} : { claim }),
        },
      );
      return { result: undefined, claim: accepted.dispatched?.claim };
    });
  }

  async #fail(begun: Begun, error: string): Promise<void> {
    const line = `${describe(begun)}: ${error.replaceAll(/\s+/g, " ").trim()}`;
    this.#ports.log(line);
    await this.#ledger.fail(begun, line);
  }
}

function momentOf(change: Change): SessionMoment | undefined {
  if (change.kind === "session") return change.what === "reset" ? "onNew" : undefined;
  const isAnswer = change.kind === "turn" && change.type === "normal" && change.status === "completed";
  return isAnswer ? "onMessageEnd" : undefined;
}

function causeOf({ cause }: Occasion): Pick<NewEvent, "cause"> {
  return cause === undefined ? {} : { cause };
}

function describe({ told: { moment, session } }: Begun): string {
  return `The script ${moment} of ${session} has failed`;
}
