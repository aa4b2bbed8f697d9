/**
 * Reports to the caller of a delegation, once, how the work ended: the turn that waits for it goes on, or a message is
 * sent. Pending reports are in the store, so this can stop at any moment and start again; being late costs only time.
 * It also ends work that has timed out.
 */
import { AGENT_ADAPTER } from "../model/event.ts";
import { eventId } from "../model/event-id.ts";
import { DIRECT_HOOK } from "../model/hook-order.ts";
import { dispatchIds } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { WakeLoop } from "../model/wake-loop.ts";
import type { Delegation, DelegationReport } from "../store/store.ts";
import type { Ports } from "../feature/ports.ts";
import { type DelegationPorts, queueingOfAgent } from "./accept.ts";
import { delegationDetail } from "./delegate.ts";
import { targetOf } from "./kin.ts";
import { readOutcome, reportText } from "./outcome.ts";

type ReporterPorts = Pick<DelegationPorts, "store" | "settings" | "clock" | "mintId" | "slots"> &
  Pick<Ports, "log">;

/** How many outcomes are reported at a time. */
const BATCH = 64;
/** How long an outcome waits if its wake-up was lost. */
const POLL_MS = 5_000;
/** After a failure. */
const RETRY_MS = 2_000;

export class Reporter implements AsyncDisposable {
  readonly #ports: ReporterPorts;
  readonly #loop: WakeLoop;

  constructor(ports: ReporterPorts, { retryMs = RETRY_MS } = {}) {
    this.#ports = ports;
    const { store, log } = ports;
    this.#loop = new WakeLoop({
      round: ({ signal }) => this.#reportAll(signal),
      listen(wake) {
        const unlisten = [store.onWake("queue", wake), store.onWake("runs", wake)];
        return () => unlisten.forEach((end) => end());
      },
      pollMs: POLL_MS,
      retryMs,
      onProblem: (error) => log(`Cannot report worker results; retrying: ${String(error)}`),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Finishes the reports in progress. The rest is reported after the next start. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }

  async #reportAll(signal: AbortSignal): Promise<number> {
    const waitMs = await this.#expire();
    for (;;) {
      const ended = await this.#ports.store.delegations.unreported({ limit: BATCH });
      if (signal.aborted) return waitMs;
      await Promise.all(ended.map((delegation) => this.#report(delegation)));
      if (ended.length < BATCH) return waitMs;
    }
  }

  /** Ends work that has timed out. Returns the time until the next deadline. */
  async #expire(): Promise<number> {
    const { store, clock } = this.#ports;
    const deadlineMs = await store.delegations.nextDeadlineMs();
    if (deadlineMs === undefined) return Infinity;
    const leftMs = deadlineMs - clock();
    if (leftMs > 0) return leftMs;
    await store.delegations.expire();
    return 0;
  }

  async #report(delegation: Delegation): Promise<void> {
    const { store, slots } = this.#ports;
    const message = delegation.waits ? undefined : await reportOf(delegation, this.#ports);
    if (message === undefined) {
      await store.delegations.report(delegation.id);
      return;
    }
    await slots.withSlot(async (lease) => {
      const { claim } = await store.delegations.report(delegation.id, {
        ...message,
        ...(lease === undefined ? {} : { claim: lease }),
      });
      return { result: undefined, claim };
    });
  }
}

/** Undefined: the worker said it all while it worked. */
async function reportOf(delegation: Delegation, ports: ReporterPorts): Promise<DelegationReport | undefined> {
  const { store, clock, mintId } = ports;
  const outcome = await readOutcome(delegation, store);
  const content = reportText(delegation, outcome);
  if (content === undefined) return undefined;
  const [caller, worker] = await Promise.all([
    store.sessions.get(delegation.caller),
    store.sessions.get(delegation.session),
  ]);
  const { cause, permissions, delivery, audience } = delegationDetail(delegation);
  const { agent } = worker!;
  const from = {
    session: delegation.session,
    agent,
    ...(outcome.turn === undefined ? {} : { turn: outcome.turn }),
  };
  const target = targetOf(caller!);
  // A report is never dropped because the queue is full: the number of open delegations is bounded.
  const { cap: _, ...queued } = await queueingOfAgent(undefined, target, ports);
  return {
    event: {
      id: eventId(AGENT_ADAPTER, { kind: "id", sourceId: delegation.id }),
      channel: AGENT_ADAPTER,
      direction: "sent",
      sender: agent,
      content,
      metadata: { kind: "report", from },
      ...(cause === undefined ? {} : { cause, returns: true }),
      ...present({ audience }),
      atMs: clock(),
    },
    dispatch: {
      ...dispatchIds(mintId),
      hook: DIRECT_HOOK,
      target,
      ...queued,
      ...present({ permissions, delivery }),
      from: delegation.session,
    },
  };
}
