/**
 * Advances relays: makes the next move of each relay that is due, and runs the scripts between its steps.
 *
 * All state is in the store: which relays are due, and the rows their next moves follow from. In memory are only the
 * relays in progress, so no two moves of one relay overlap, and the abort controllers of their scripts.
 */
import type { CortexError } from "../../model/errors.ts";
import type { RelayId } from "../../model/ids.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import { readArtifact, workspaceOf } from "../artifact/artifact.ts";
import { advance, type DueScript, type Move } from "./advance.ts";
import { isLasting } from "./draft.ts";
import { finish } from "../record/ending.ts";
import { endMessage } from "./messages.ts";
import { noticesOf } from "./notices.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { changeTo, isOvertaken, type KeptRelay, readRelay, updateRelay } from "../record/kept-relay.ts";
import type { RelayRecord, ScriptPoint } from "../record/record.ts";
import { runScript } from "../scripts/script.ts";
import type { ScriptAnswer } from "../scripts/script-answer.ts";
import { scriptContext } from "../record/script-context.ts";
import { agentIn } from "../templates/snapshot.ts";
import { takeAnswer } from "./take-answer.ts";

/** Relays per round. */
const BATCH = 100;
/** How long a relay waits if a wake-up is lost. */
const POLL_MS = 5_000;
/** After a failure. */
const RETRY_MS = 2_000;

interface EngineTimes {
  readonly pollMs?: number;
  readonly retryMs?: number;
}

export class Engine implements AsyncDisposable {
  readonly #ports: EnginePorts;
  /** The relays in progress. */
  readonly #works = new Map<RelayId, Promise<void>>();
  /** Their running scripts. */
  readonly #scripts = new Map<RelayId, { readonly point: ScriptPoint; readonly abort: AbortController }>();
  /** Relays whose last move failed, waiting for a retry. */
  readonly #resting = new Set<RelayId>();
  readonly #loop: WakeLoop;
  readonly #retryMs: number;
  #isClosed = false;

  constructor(ports: EnginePorts, { pollMs = POLL_MS, retryMs = RETRY_MS }: EngineTimes = {}) {
    this.#ports = ports;
    this.#retryMs = retryMs;
    const { store, log } = ports;
    this.#loop = new WakeLoop({
      round: () => this.#look(),
      listen: (wake) => store.onWake("queue", wake),
      pollMs,
      onProblem: (error) => log(`Cannot run relays; retrying: ${String(error)}`),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Stops the running script of a relay that is ending, unless it is an end script. */
  interrupt(id: RelayId): void {
    const script = this.#scripts.get(id);
    if (script !== undefined && script.point !== "end") script.abort.abort();
  }

  /** Stops running scripts and records that. Everything else continues after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#loop[Symbol.asyncDispose]();
    for (const { abort } of this.#scripts.values()) abort.abort();
    await Promise.all(this.#works.values());
  }

  async #look(): Promise<void> {
    const busy = this.#works.size + this.#resting.size;
    const due = await this.#ports.store.relays.due({ limit: Math.min(BATCH + busy, 1_000) });
    for (const id of due) {
      if (!this.#isClosed && !this.#works.has(id) && !this.#resting.has(id)) this.#begin(id);
    }
  }

  #begin(id: RelayId): void {
    const done = this.#work(id).then(
      () => this.#end(id),
      (error: unknown) => {
        this.#end(id);
        if (this.#isClosed) return;
        this.#ports.log(`Cannot continue relay ${id}; retrying: ${String(error)}`);
        this.#resting.add(id);
        setTimeout(() => {
          this.#resting.delete(id);
          this.#loop.wake();
        }, this.#retryMs).unref();
      },
    );
    this.#works.set(id, done);
  }

  /** The relay may have become due again in the meantime. */
  #end(id: RelayId): void {
    this.#works.delete(id);
    this.#loop.wake();
  }

  async #work(id: RelayId): Promise<void> {
    const { store } = this.#ports;
    while (!this.#isClosed) {
      const relay = await readRelay(id, store);
      if (relay === undefined || !relay.isDue) return;
      const move = await advance(relay, this.#ports);
      try {
        if (!(await this.#make(move, relay))) return;
      } catch (error) {
        if (isOvertaken(error)) continue; // a step ended, or a person changed it
        if (!isLasting(error) || !(await this.#giveUp(id, error))) throw error;
      } finally {
        this.#scripts.delete(id);
      }
    }
  }

  /** False: the relay has to wait. */
  async #make(move: Move, relay: KeptRelay): Promise<boolean> {
    const { id } = relay;
    const { script, record } = move;
    const abort = new AbortController();
    // A cancellation right after the save must find the script, even before it starts.
    if (script !== undefined) this.#scripts.set(id, { point: script.point, abort });
    await this.#save(relay, move);
    if (move.farewell !== undefined) this.#ports.extraScripts.delete(id);
    if (script === undefined) return false;
    await this.#runScript(script, record, relay, abort.signal);
    return true;
  }

  /** Fails a relay whose move cannot be saved. False: it is ending already. */
  async #giveUp(id: RelayId, { message, hint }: CortexError): Promise<boolean> {
    const { store, clock } = this.#ports;
    const failed = await updateRelay(id, store, ({ record }) => {
      const ended = finish(record, { stopReason: "failed", error: `${message}. ${hint}` }, clock());
      return ended === record ? undefined : { record: ended, stop: "the relay failed" };
    });
    return failed !== undefined;
  }

  /** A relay whose script is about to run stays due, so that an interruption is noticed after a crash. */
  async #save(relay: KeptRelay, move: Move): Promise<void> {
    const { store, slots } = this.#ports;
    const { id, version } = relay;
    const { record, orders, farewell, stop, script } = move;
    const tell = farewell === undefined ? undefined : await endMessage(relay, farewell, this.#ports);
    const change = {
      ...changeTo(relay.record, record, orders),
      due: script !== undefined,
      ...(await noticesOf(move, relay, this.#ports)),
      ...(stop === undefined ? {} : { stop }),
      ...(tell === undefined ? {} : { tell }),
    };
    if (orders.size === 0) {
      await store.relays.save(id, version, change);
      return;
    }
    await slots.withSlot(async (claim) => {
      const saved = await store.relays.save(id, version, {
        ...change,
        ...(claim === undefined ? {} : { claim }),
      });
      return { result: undefined, claim: saved.claim };
    });
  }

  /** The relay continues whatever the script does: an answer that cannot be saved is recorded as a failure. */
  async #runScript(
    due: DueScript,
    record: RelayRecord,
    relay: KeptRelay,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, clock } = this.#ports;
    const begun = { ...due, startedAtMs: clock() };
    const answer = await this.#ask(due, record, relay, signal);
    const take = (taken: ScriptAnswer) =>
      updateRelay(relay.id, store, (kept) => takeAnswer(kept, begun, taken, this.#ports));
    try {
      await take(answer);
    } catch (error) {
      if (!isLasting(error)) throw error;
      await take({ kind: "failed", error: error.message });
    }
  }

  async #ask(
    { point, script }: DueScript,
    record: RelayRecord,
    { content }: KeptRelay,
    signal: AbortSignal,
  ): Promise<ScriptAnswer> {
    const { home, run } = this.#ports;
    const read = await readArtifact(workspaceOf(home, record.id));
    if (signal.aborted || this.#isClosed) return { kind: "failed", error: "Stopped before it started" };
    const context = scriptContext(record, point, read.kind === "read" ? read.text : undefined);
    const slots = Object.keys(record.agents).filter((slot) => agentIn(content, slot) !== undefined);
    return runScript({ script, home, context, slots, signal, run });
  }
}
