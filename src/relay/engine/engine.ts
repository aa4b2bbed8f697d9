/**
 * Lets relays go on: looks at each one that is due, makes its next move, and runs the scripts between its steps.
 *
 * It holds nothing that the store does not: which relays are due is there, and what they do next follows from their
 * rows. In memory are only the relays that it is at work on, so that no two moves of one are made at once, and how to end
 * the script that one of them waits for.
 */
import type { CortexError } from "../../model/errors.ts";
import type { RelayId } from "../../model/ids.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import { noticesTo } from "../../delivery/address.ts";
import { readArtifact, workspaceOf } from "../artifact/artifact.ts";
import { advance, type DueScript, type Move } from "./advance.ts";
import { isLasting } from "./draft.ts";
import { finish } from "../record/ending.ts";
import { endMessage } from "./messages.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { changeTo, isOvertaken, type KeptRelay, readRelay, updateRelay } from "../record/kept-relay.ts";
import type { RelayRecord, ScriptPoint } from "../record/record.ts";
import { runScript } from "../scripts/script.ts";
import type { ScriptAnswer } from "../scripts/script-answer.ts";
import { scriptContext } from "../record/script-context.ts";
import { agentIn } from "../templates/snapshot.ts";
import { takeAnswer } from "./take-answer.ts";

/** Looked at at a time. */
const BATCH = 100;
/** Wake-ups can be lost; this is how long a relay then waits. */
const POLL_MS = 5_000;
/** After a failure. */
const RETRY_MS = 2_000;

interface EngineTimes {
  readonly pollMs?: number;
  readonly retryMs?: number;
}

export class Engine implements AsyncDisposable {
  readonly #ports: EnginePorts;
  /** The relays that are worked on. */
  readonly #works = new Map<RelayId, Promise<void>>();
  /** The scripts that they wait for. */
  readonly #scripts = new Map<RelayId, { readonly point: ScriptPoint; readonly abort: AbortController }>();
  /** Those that have failed just now: they are tried again later. */
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
      onProblem: (error) => log(`Relays will be retried: ${String(error)}`),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Ends the script that a relay waits for which comes to its end: only those for the end matter any more. */
  interrupt(id: RelayId): void {
    const script = this.#scripts.get(id);
    if (script !== undefined && script.point !== "end") script.abort.abort();
  }

  /** Scripts are ended, and that is recorded. Everything else goes on after the next start. */
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
        this.#ports.log(`Relay ${id} will be retried: ${String(error)}`);
        this.#resting.add(id);
        setTimeout(() => {
          this.#resting.delete(id);
          this.#loop.wake();
        }, this.#retryMs).unref();
      },
    );
    this.#works.set(id, done);
  }

  /** It may have become due again while it was worked on. */
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
        if (isOvertaken(error)) continue; // by a step that has ended, or by a person
        if (!isLasting(error) || !(await this.#giveUp(id, error))) throw error;
      } finally {
        this.#scripts.delete(id);
      }
    }
  }

  /** False: the relay waits for something else. */
  async #make(move: Move, relay: KeptRelay): Promise<boolean> {
    const { id } = relay;
    const { script, record } = move;
    const abort = new AbortController();
    // Whoever cancels the relay right after the save finds the script, though it has not begun.
    if (script !== undefined) this.#scripts.set(id, { point: script.point, abort });
    await this.#save(relay, move);
    if (move.farewell !== undefined) this.#ports.extraScripts.delete(id);
    if (script === undefined) return false;
    await this.#runScript(script, record, relay, abort.signal);
    return true;
  }

  /** Nothing that could be kept comes of it. False: it is coming to its end already. */
  async #giveUp(id: RelayId, { message, hint }: CortexError): Promise<boolean> {
    const { store, clock } = this.#ports;
    const failed = await updateRelay(id, store, ({ record }) => {
      const ended = finish(record, { stopReason: "failed", error: `${message}. ${hint}` }, clock());
      return ended === record ? undefined : { record: ended, stop: "the relay has failed" };
    });
    return failed !== undefined;
  }

  /** A relay whose script is about to run stays due: after a crash somebody has to see that it was cut off. */
  async #save(relay: KeptRelay, move: Move): Promise<void> {
    const { store, mintId, slots } = this.#ports;
    const { id, version } = relay;
    const { delivery } = relay.detail;
    const { record, orders, notices, farewell, stop, script } = move;
    const texts = [...notices, ...(farewell === undefined ? [] : [farewell])];
    const tell = farewell === undefined ? undefined : await endMessage(relay, farewell, this.#ports);
    const change = {
      ...changeTo(relay.record, record, orders),
      due: script !== undefined,
      deliveries: delivery === undefined ? [] : texts.flatMap((text) => noticesTo(delivery, text, mintId)),
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

  /** Whatever comes of it, the relay goes on: what cannot be kept of its answer is what went wrong with it. */
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
    if (signal.aborted || this.#isClosed) return { kind: "failed", error: "It was stopped before it began" };
    const context = scriptContext(record, point, read.kind === "read" ? read.text : undefined);
    const slots = Object.keys(record.agents).filter((slot) => agentIn(content, slot) !== undefined);
    return runScript({ script, home, context, slots, signal, run });
  }
}
