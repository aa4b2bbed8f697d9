/**
 * Tells whoever gave work away how it has ended, once: the turn that waits for it goes on, or a message is sent. What
 * is to be told is in the store, so this can end at any moment and begin anew; being late costs nothing but time.
 * It also ends work whose time is over.
 */
import { AGENT_ADAPTER, eventId } from "../model/event.ts";
import { DIRECT_HOOK } from "../model/hook-order.ts";
import type { DispatchId, ItemId } from "../model/ids.ts";
import { WakeLoop } from "../model/wake-loop.ts";
import type { Claim, Delegation, DelegationReport, LeaseRequest } from "../store/store.ts";
import { detailOf } from "./delegate.ts";
import { targetOf } from "./kin.ts";
import { readOutcome, reportText } from "./outcome.ts";
import type { DelegationParts } from "./parts.ts";
import { asMetadata } from "../model/stamp.ts";

export interface ReporterParts extends Pick<DelegationParts, "store" | "clock" | "mintId" | "queueing"> {
  /** Does something that may bring a claim with it. */
  readonly withSlot: <Result>(
    act: (claim: LeaseRequest | undefined) => Promise<{ result: Result; claim: Claim | undefined }>,
  ) => Promise<Result>;
  /** Told when it does not go on, once until it does again. */
  readonly onProblem: (error: unknown) => void;
  readonly retryMs?: number;
}

/** Told of at a time. */
const BATCH = 64;
/** Wake-ups can be lost; this is how long an outcome then waits. */
const POLL_MS = 5_000;
/** After a failure. */
const RETRY_MS = 2_000;

export class Reporter implements AsyncDisposable {
  readonly #parts: ReporterParts;
  readonly #loop: WakeLoop;

  constructor(parts: ReporterParts) {
    this.#parts = parts;
    const { store, onProblem, retryMs = RETRY_MS } = parts;
    this.#loop = new WakeLoop({
      round: ({ signal }) => this.#tellAll(signal),
      listen(wake) {
        const unlisten = [store.onWake("queue", wake), store.onWake("runs", wake)];
        return () => unlisten.forEach((end) => end());
      },
      pollMs: POLL_MS,
      retryMs,
      onProblem,
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Lets the outcome that is being told of be told of. The rest is done after the next start. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }

  async #tellAll(signal: AbortSignal): Promise<number> {
    const waitMs = await this.#expire();
    for (;;) {
      const ended = await this.#parts.store.delegations.unreported({ limit: BATCH });
      if (signal.aborted) return waitMs;
      await Promise.all(ended.map((delegation) => this.#tell(delegation)));
      if (ended.length < BATCH) return waitMs;
    }
  }

  /** Ends what has taken too long. Gives how long it is until there may be more of it. */
  async #expire(): Promise<number> {
    const { store, clock } = this.#parts;
    const deadlineMs = await store.delegations.nextDeadlineMs();
    if (deadlineMs === undefined) return Infinity;
    const leftMs = deadlineMs - clock();
    if (leftMs > 0) return leftMs;
    await store.delegations.expire();
    return 0;
  }

  async #tell(delegation: Delegation): Promise<void> {
    const { store, withSlot } = this.#parts;
    const message = delegation.waits ? undefined : await reportOf(delegation, this.#parts);
    if (message === undefined) {
      await store.delegations.report(delegation.id);
      return;
    }
    await withSlot(async (lease) => {
      const { claim } = await store.delegations.report(delegation.id, {
        ...message,
        ...(lease === undefined ? {} : { claim: lease }),
      });
      return { result: undefined, claim };
    });
  }
}

/** Undefined: the worker has said it all while it worked. */
async function reportOf(
  delegation: Delegation,
  { store, clock, mintId, queueing }: ReporterParts,
): Promise<DelegationReport | undefined> {
  const outcome = await readOutcome(delegation, store);
  const content = reportText(delegation, outcome);
  if (content === undefined) return undefined;
  const [caller, worker] = await Promise.all([
    store.sessions.get(delegation.caller),
    store.sessions.get(delegation.session),
  ]);
  const { cause, permissions, delivery } = detailOf(delegation);
  const { agent } = worker!;
  const from = {
    session: delegation.session,
    agent,
    ...(outcome.turn === undefined ? {} : { turn: outcome.turn }),
  };
  const target = targetOf(caller!);
  // A result is not dropped because others have written much: how many there can be is bounded where work is given.
  const { cap: _, ...queued } = await queueing(undefined, target);
  return {
    event: {
      id: eventId(AGENT_ADAPTER, { kind: "id", sourceId: delegation.id }),
      channel: AGENT_ADAPTER,
      direction: "sent",
      sender: agent,
      content,
      metadata: asMetadata({ kind: "report", from }),
      ...(cause === undefined ? {} : { cause, returns: true }),
      atMs: clock(),
    },
    dispatch: {
      id: mintId() as DispatchId,
      item: mintId() as ItemId,
      hook: DIRECT_HOOK,
      target,
      ...queued,
      ...(permissions === undefined ? {} : { permissions }),
      ...(delivery === undefined ? {} : { delivery }),
      from: delegation.session,
    },
  };
}
