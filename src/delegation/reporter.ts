/**
 * Tells whoever gave work away how it has ended, once: the turn that waits for it goes on, or a message is sent. What
 * is to be told is in the store, so this can end at any moment and begin anew; being late costs nothing but time.
 * It also ends work whose time is over.
 */
import { AGENT_ADAPTER, eventId } from "../model/event.ts";
import { DIRECT_HOOK } from "../model/hook-order.ts";
import type { DispatchId, ItemId } from "../model/ids.ts";
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
  readonly #unlisten: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #pass: Promise<void> | undefined;
  #woken = false;
  #isClosed = false;
  #failing = false;

  constructor(parts: ReporterParts) {
    this.#parts = parts;
  }

  start(): void {
    const wake = (): void => this.#wake();
    this.#unlisten.push(
      ...(["queue", "runs"] as const).map((topic) => this.#parts.store.onWake(topic, wake)),
    );
    this.#wake();
  }

  /** Lets the outcome that is being told of be told of. The rest is done after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const unlisten of this.#unlisten) unlisten();
    clearTimeout(this.#timer);
    await this.#pass;
  }

  #wake(): void {
    if (this.#isClosed) return;
    this.#woken = true;
    this.#pass ??= this.#tellAll().finally(() => {
      this.#pass = undefined;
      if (this.#woken) this.#wake();
    });
  }

  async #tellAll(): Promise<void> {
    const { store, onProblem, retryMs = RETRY_MS } = this.#parts;
    this.#woken = false;
    let waitMs = POLL_MS;
    try {
      waitMs = Math.min(POLL_MS, await this.#expire());
      for (;;) {
        const ended = await store.delegations.unreported({ limit: BATCH });
        if (this.#isClosed) return;
        await Promise.all(ended.map((delegation) => this.#tell(delegation)));
        if (ended.length < BATCH) break;
      }
      this.#failing = false;
    } catch (error) {
      if (this.#isClosed) return; // the store may be closed by now
      if (!this.#failing) onProblem(error);
      this.#failing = true;
      waitMs = retryMs;
    }
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#wake(), waitMs).unref();
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
