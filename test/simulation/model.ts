/**
 * The broker as simple as it can be said: maps and lists, no transactions, no batches, no indexes. The
 * simulation applies every operation to it after the store has answered, and it fails where the answer
 * is not the one that follows from the rules.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert";

import { compareHooks } from "../../src/model/hook-order.ts";
import type { TurnId } from "../../src/model/ids.ts";
import {
  addedTrust,
  isUnlabelled,
  joinTrust,
  NO_TRUST,
  parseTrust,
  readTrust,
  trustJson,
} from "../../src/model/trust.ts";
import type { Json } from "../../src/model/json.ts";
import type { SessionKey } from "../../src/model/session-key.ts";
import type {
  Accepted,
  Approval,
  ApprovalAnswer,
  ApprovalState,
  Claim,
  DeliveryClaim,
  Dispatched,
  DispatchTarget,
  JournalEntry,
  IndexStep,
  Lease,
  LeaseRequest,
  NewApproval,
  NewDelivery,
  Recorded,
  Settings,
} from "../../src/store/store.ts";
import { type ModelDelegation, ModelDelegations } from "./model-delegations.ts";
import { ModelHooks } from "./model-hooks.ts";
import type { ModelItem } from "./model-item.ts";
import { ModelRelays } from "./model-relays.ts";
import { ModelTeam } from "./model-team.ts";
import type { Operation, Send } from "./operation.ts";

export interface ModelRun {
  readonly id: string;
  readonly turn: string;
  readonly session: string;
  readonly attempt: number;
  /** The one that the turn is for; others are merged into it. */
  readonly item: ModelItem;
  state: "running" | "suspended" | "resumable" | "failed" | "completed" | "aborted";
  parent: string | undefined;
  interruptions: number;
  progress: number;
  claimedProgress: number;
  abort: string | undefined;
  /** The item that interrupted it. */
  abortedBy: string | undefined;
  compacting: boolean;
  wait: string | undefined;
  /** The epoch of the lease under which it ended. */
  endedEpoch: number | undefined;
}

export interface ModelSession {
  readonly label: string;
  readonly order: number;
  readonly agent: string;
  /** The session whose agent opened it. */
  readonly parent: string | undefined;
  settings: Settings | undefined;
  head: string | undefined;
  epoch: number;
  holder: string | undefined;
  run: ModelRun | undefined;
  readyMs: number | undefined;
  usedMs: number;
}

/** What is written of a turn before it is one. */
interface Draft {
  readonly messages: Map<number, string>;
  readonly calls: Map<number, string | undefined>;
}

export interface ModelTurn {
  readonly id: string;
  readonly parent: string | undefined;
  readonly session: string;
  readonly type: "normal" | "compaction";
  readonly event: string | undefined;
  readonly messages: number;
  /** The marks of its session when it was committed. */
  readonly trust: Json | undefined;
}

export interface ModelDelivery {
  readonly id: string;
  readonly target: string;
  state: "pending" | "sending" | "sent" | "unknown" | "dead" | "dropped";
  epoch: number;
  holder: string | undefined;
  dueMs: number;
  chunks: { state: "pending" | "sending" | "sent" | "unknown" }[];
}

export interface ModelApproval {
  readonly id: string;
  readonly kind: NewApproval["kind"];
  readonly turn: string;
  readonly session: string;
  readonly expiresMs: number | undefined;
  state: ApprovalState;
  answer?: ApprovalAnswer;
}

/** What a store answered: a value, or the code of its refusal. */
export type Answer = { readonly value: unknown } | { readonly refused: string };

/** Of a dispatch that the answer says nothing of but its claim. */
interface Unseen {
  readonly claim: Claim | undefined;
}

class Refused extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

function refuse(code: string | undefined): void {
  if (code !== undefined) throw new Refused(code);
}

/** What the store notes with a run whose time is over. */
const TIMED_OUT = "timed out";

/** What a dispatch that was made before is asked for again with: it does not matter. */
const UNUSED: Send = {
  hook: "",
  target: { kind: "turn", turn: "none" as TurnId, forkAs: "none" as SessionKey },
  mode: "followup",
  dueMs: 0,
};

export class Model {
  readonly events = new Map<string, { content: string; differing: number; isPruned?: true }>();
  readonly dispatches = new Map<string, ModelItem>();
  readonly items: ModelItem[] = [];
  readonly sessions = new Map<string, ModelSession>();
  readonly runs = new Map<string, ModelRun>();
  readonly drafts = new Map<string, Draft>();
  readonly turns = new Map<string, ModelTurn>();
  readonly deliveries = new Map<string, ModelDelivery>();
  readonly approvals = new Map<string, ModelApproval>();
  readonly hooks = new ModelHooks();
  /** How many events, the oldest, can be found by way of the index. */
  indexed = 0;
  readonly delegations = new ModelDelegations();
  readonly relays = new ModelRelays();
  readonly team = new ModelTeam();
  /** Turns that somebody forked on purpose: only these may have more than one child. */
  readonly forked = new Set<string>();
  nowMs = 0;

  /** Applies an operation and checks the store's answer to it. */
  apply(operation: Operation, answer: Answer): void {
    let refused: string | undefined;
    try {
      this.#expect(operation, "value" in answer ? answer.value : undefined, "value" in answer);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused = error.code;
    }
    this.#settleDelegations();
    this.relays.settle();
    strictEqual("refused" in answer ? answer.refused : undefined, refused);
  }

  /** Learns which events were pruned: none that is to be worked on, tried again, judged or told of. */
  prune(names: ReadonlySet<string>): void {
    for (const item of this.items) {
      const isDeadLetter = item.state === "dead" && !this.delegations.isGiven(item);
      const isNeeded = isOpen(item, item.session) || isDeadLetter || isUnseen(item);
      ok(!isNeeded || this.events.get(item.event)!.isPruned === true || !names.has(item.event), item.event);
    }
    for (const name of this.hooks.unjudged) ok(!names.has(name), name);
    for (const name of names) {
      const event = this.events.get(name);
      if (event !== undefined) event.isPruned = true;
    }
  }

  /** What `queue.unseenDrops` must find. */
  unseenDrops(label: string): string[] {
    return this.items.filter((item) => item.session === label && isUnseen(item)).map(({ id }) => id);
  }

  /** What `queue.nextReadyMs` must say. */
  nextReadyMs(): number | undefined {
    const unheld = [...this.sessions.values()].filter(({ holder }) => holder === undefined);
    const moments = unheld.map(({ readyMs }) => readyMs).filter((moment) => moment !== undefined);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  /** Whether a lease is still good for a run. */
  holds(lease: Lease, run: string): boolean {
    const session = this.sessions.get(lease.session);
    return session?.epoch === lease.epoch && session.holder !== undefined && session.run?.id === run;
  }

  /** What `approvals.nextExpiryMs` must say. */
  nextExpiryMs(): number | undefined {
    const open = [...this.approvals.values()].filter(({ state }) => state === "open");
    const moments = open.map(({ expiresMs }) => expiresMs).filter((moment) => moment !== undefined);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  /** All holders are dead: what every start of the only writer assumes. */
  crash(): void {
    for (const session of this.sessions.values()) {
      if (session.holder === undefined) continue;
      session.holder = undefined;
      session.readyMs = this.nowMs;
    }
    for (const delivery of this.deliveries.values()) {
      if (delivery.state === "sending") this.#abandon(delivery, Math.min(delivery.dueMs, this.nowMs));
    }
  }

  #expect(operation: Operation, value: unknown, answered: boolean): void {
    switch (operation.kind) {
      case "accept":
        return this.#accept(operation, value as Accepted | undefined);
      case "report":
        return this.#report(operation, value as { reported: boolean; claim?: Claim } | undefined);
      case "expireDelegations":
        return this.#expireDelegations(value as string[]);
      case "createRelay":
        return deepStrictEqual(value, { fresh: this.relays.create(operation.relay) });
      case "saveRelay":
        return this.#saveRelay(operation, value as { version: number; claim?: Claim } | undefined);
      case "keepMember":
        return this.team.keep(operation.member, operation);
      case "orderTurn":
        return this.#orderTurn(
          operation,
          value as { item: string; fresh: boolean; claim?: Claim } | undefined,
        );
      case "cancel":
        return this.#cancel(operation.session, value as number | undefined);
      case "syncHooks":
        return this.hooks.sync(operation.found);
      case "setHookEnabled":
        return refuse(this.hooks.setEnabled(operation.hook, operation.enabled));
      case "recordHookRun":
        return this.#recordHookRun(operation, value as Recorded | undefined);
      case "judged":
        return this.#judged(operation);
      case "index":
        return this.#index(operation.max, value as IndexStep);
      case "dispatch":
        if (!this.events.has(operation.name)) throw new Refused("event_unknown");
        return this.#dispatch({ ...operation, ...operation.send }, value as Dispatched | undefined);
      case "lease":
        return this.#lease(operation, value as Claim[]);
      case "renew":
        return this.#renew(operation, value as Lease[]);
      case "release":
        return this.#release(operation.leases);
      case "drop":
        return this.#drop(operation, value as string[]);
      case "retryDead":
        return this.#retryDead(operation.item);
      case "dropDead":
        return this.#dropDead(operation.item);
      case "beginCompaction":
        this.#held(operation.lease, operation.run).run!.compacting = true;
        return;
      case "journal": {
        const session = this.#held(operation.lease, operation.run);
        return this.#journal(session.run!, operation.entries);
      }
      case "suspend":
        return this.#suspend(operation);
      case "answer":
        return this.#answer(operation.approval, operation.answer, value as Approval | undefined);
      case "use":
        return this.#use(operation, value, answered);
      case "expire":
        return this.#expire(value as string[]);
      case "resume":
        return this.#resume(operation, value, answered);
      case "requestAbort":
        return this.#requestAbort(operation.run, value, answered);
      case "fail":
        return this.#fail(operation, value as { next?: Claim } | undefined);
      case "commit":
        return this.#commit(operation, value as { next?: Claim } | undefined);
      case "compact":
        return this.#compact(operation);
      case "fork":
        return this.#fork(operation.turn, operation.label);
      case "reset":
        return this.#reset(operation.session);
      case "addDelivery":
        this.#held(operation.lease, operation.run);
        if (!this.deliveries.has(operation.delivery.id)) this.#addDeliveries([operation.delivery]);
        return undefined;
      case "configure":
        return this.#configure(operation);
      case "claimDeliveries":
        return this.#claimDeliveries(operation, value as DeliveryClaim[]);
      case "plan": {
        const delivery = this.#fenced(operation.fence);
        if (delivery.chunks.length === 0)
          delivery.chunks = operation.chunks.map(() => ({ state: "pending" }));
        return undefined;
      }
      case "sending": {
        const chunk = this.#chunk(this.#fenced(operation.fence), operation.chunk);
        if (chunk.state === "sent") throw new Refused("state_conflict");
        chunk.state = "sending";
        return undefined;
      }
      case "settle":
        return this.#settle(operation);
      case "retryDelivery":
        return this.#retryDelivery(operation.delivery);
      case "dropDelivery":
        return this.#dropDelivery(operation.delivery);
    }
  }

  #accept(operation: Extract<Operation, { kind: "accept" }>, value: Accepted | undefined): void {
    const { name, content, send, ids, claim, judge } = operation;
    const known = this.events.get(name);
    const before = { ...known };
    if (known === undefined) this.events.set(name, { content, differing: 0 });
    else if (known.content !== content && known.isPruned !== true) known.differing++;
    if (value !== undefined) strictEqual(value.fresh, before.content === undefined);
    if (known === undefined && judge) this.hooks.unjudged.add(name);
    if (send === undefined) return;
    try {
      this.#dispatch({ name, ids, claim, ...send }, value?.dispatched);
    } catch (error) {
      if (known === undefined) this.hooks.unjudged.delete(name);
      if (known === undefined) this.events.delete(name);
      else known.differing = before.differing!;
      throw error;
    }
  }

  #recordHookRun(
    operation: Extract<Operation, { kind: "recordHookRun" }>,
    value: Recorded | undefined,
  ): void {
    const { name, hook, send, ids, claim } = operation;
    if (!this.events.has(name)) throw new Refused("event_unknown");
    if (!this.hooks.hooks.has(hook)) throw new Refused("hook_unknown");
    const wasFired = this.hooks.runs.get(`${name}/${hook}`)?.fired === true;
    if (wasFired || (send !== undefined && this.hooks.fires(name, hook)))
      this.#dispatch({ name, ids, claim, ...(send ?? UNUSED), hook }, value?.dispatched);
    else strictEqual(value?.dispatched, undefined, "only a firing is dispatched");
    this.hooks.record(operation, send !== undefined, this.nowMs, value);
  }

  /** It stops only where nothing is left: what is said here is short. */
  #index(max: number, { indexed, waiting }: IndexStep): void {
    ok(indexed === max || (indexed < max && waiting === 0));
    this.indexed += indexed;
  }

  #judged({ name, silent }: Extract<Operation, { kind: "judged" }>): void {
    if (!this.events.has(name)) throw new Refused("event_unknown");
    if (silent.some((hook) => !this.hooks.hooks.has(hook))) throw new Refused("hook_unknown");
    for (const hook of silent)
      this.hooks.record({ name, hook, error: undefined, disable: false }, false, this.nowMs, undefined);
    this.hooks.unjudged.delete(name);
    this.#endGathering(name);
  }

  /** Nobody has to be waited for any more. What collects has a window of its own. */
  #endGathering(name: string): void {
    for (const item of this.items) {
      const { event, state, turn, mode, dueMs, lateEvent } = item;
      if (event !== name || lateEvent !== undefined || state !== "queued" || turn !== undefined) continue;
      if (mode === "collect" || dueMs.value <= this.nowMs) continue;
      dueMs.value = this.nowMs;
      this.#refresh(this.sessions.get(item.session)!);
    }
  }

  /** A hook that comes before all others says how an item waits that no turn has begun with. */
  #takeOver(work: Send, session: ModelSession, present: ModelItem): void {
    const hooks = [...this.dispatches]
      .filter(([, item]) => item === present)
      .map(([key]) => key.split("/")[1]!);
    if (work.mode === present.mode || !hooks.every((hook) => compareHooks(work.hook, hook) < 0)) return;
    present.mode = work.mode;
    present.dueMs.value = Math.max(work.dueMs, work.mode === "interrupt" ? this.nowMs : present.dueMs.value);
    this.#moveCollected(session, present);
    if (session.run === undefined) this.#refresh(session);
    else if (work.mode === "interrupt") this.#abort(session, "interrupted by a newer message", present.id);
  }

  #dispatch(
    work: Send & { name: string; ids: string; claim: LeaseRequest | undefined },
    value: Dispatched | Unseen | undefined,
  ): void {
    const key = `${work.name}/${work.hook}`;
    const before = this.dispatches.get(key);
    if (before !== undefined) return check(value, "repeated", before);
    this.#checkSender(work);
    const session = this.#resolve(work.target);
    const present = this.items.find((item) => item.event === work.name && item.session === session.label);
    const isWaiting = present?.state === "queued" && present.turn === undefined;
    if (present !== undefined && isWaiting) this.#takeOver(work, session, present);
    if (present !== undefined && work.late !== undefined && !isWaiting && present.state !== "dropped") {
      const late: ModelItem = {
        id: `item-${work.ids}`,
        event: work.name,
        lateEvent: `hook:dispatch-${work.ids}`,
        session: session.label,
        mode: "steer-backlog",
        queuedMs: this.nowMs,
        dueMs: { value: this.nowMs },
        state: "queued",
      };
      this.items.push(late);
      this.dispatches.set(key, late);
      this.#handOver(work, session, late);
      if (session.run === undefined) session.readyMs = Math.min(session.readyMs ?? this.nowMs, this.nowMs);
      return check(value, "late", late);
    }
    if (present !== undefined) {
      this.dispatches.set(key, present);
      this.#handOver(work, session, present);
      const joins = present.state === "queued" || present.state === "dead";
      return check(value, present.state === "dropped" ? "dropped" : joins ? "joined" : "merged", present);
    }
    const gathersMs = work.mode === "interrupt" ? 0 : (work.gatherMs ?? 0);
    const dueMs = Math.max(work.dueMs, this.nowMs + gathersMs);
    const item: ModelItem = {
      id: `item-${work.ids}`,
      event: work.name,
      session: session.label,
      mode: work.mode,
      queuedMs: this.nowMs,
      dueMs: { value: dueMs },
      state: "queued",
    };
    const idle = session.run === undefined && session.readyMs === undefined;
    this.dispatches.set(key, item);
    if (idle && work.claim !== undefined && dueMs <= this.nowMs) {
      this.items.push(item);
      this.#handOver(work, session, item);
      ok(value?.claim !== undefined, "an idle session is claimed at once");
      this.#claim(session, work.claim, value.claim);
      return check(value, "queued", item);
    }
    strictEqual(value?.claim, undefined, "only an idle session is claimed at once");
    const room = this.#makeRoom(session, work);
    this.items.push(item);
    if (room === "none") {
      Object.assign(item, { state: "dropped", policy: "new" });
      this.#handOver(work, session, item);
      return check(value, "dropped", item);
    }
    this.#handOver(work, session, item);
    const moved = this.#moveCollected(session, item);
    if (session.run !== undefined) {
      if (work.mode === "interrupt") this.#abort(session, "interrupted by a newer message", item.id);
    } else if (room === "made" || moved) this.#refresh(session);
    else session.readyMs = Math.min(session.readyMs ?? dueMs, dueMs);
    check(value, "queued", item);

    function check(actual: Dispatched | Unseen | undefined, outcome: string, expected: ModelItem): void {
      if (actual !== undefined && !("outcome" in actual)) return;
      deepStrictEqual(
        { outcome: actual?.outcome, item: actual?.item, session: actual?.session },
        { outcome, item: expected.id, session: expected.session },
      );
    }
  }

  #checkSender({ from, delegation }: Send): void {
    if (from === undefined) return;
    const sender = this.sessions.get(from);
    if (sender === undefined) throw new Refused("session_unknown");
    if (delegation === undefined) return;
    const { run } = sender;
    if (run?.turn !== delegation.turn || run.abort !== undefined) throw new Refused("state_conflict");
    if (this.delegations.all.has(delegation.id)) throw new Refused("state_conflict");
  }

  #handOver({ from, delegation }: Send, session: ModelSession, item: ModelItem): void {
    if (from === undefined) return;
    this.#shareTrust(this.sessions.get(from)!, session);
    if (delegation !== undefined)
      this.delegations.begin(delegation, { caller: from, session: session.label, item });
    this.#settleDelegations();
  }

  #shareTrust(from: ModelSession, to: ModelSession): void {
    const [theirs, own] = [from, to].map(({ settings }) => readTrust(settings ?? {}));
    const added = addedTrust(own!, theirs!);
    if (added === undefined) return;
    to.settings = merged(to.settings ?? {}, { trust: trustJson(added) }) as Settings;
  }

  #settleDelegations(): void {
    const ended = (turn: string): ModelRun | undefined =>
      [...this.runs.values()].find(({ turn: of, state }) => of === turn && isEnded(state));
    this.delegations.settle((turn) => ended(turn)!.state as "completed" | "aborted", this.nowMs);
  }

  #isTold(turn: string): boolean {
    const calls = this.drafts.get(turn)?.calls;
    return this.delegations.isTold(turn, (ordinal) => calls?.get(ordinal) !== undefined);
  }

  #wakeIfTold({ caller, callerTurn }: ModelDelegation): void {
    const session = this.sessions.get(caller)!;
    const waits = session.run?.turn === callerTurn && session.run.state === "suspended";
    if (waits && this.#isTold(callerTurn)) this.#wake(session);
  }

  #report(
    { delegation: id, message }: Extract<Operation, { kind: "report" }>,
    value: { reported: boolean; claim?: Claim } | undefined,
  ): void {
    const delegation = this.delegations.all.get(id);
    if (delegation === undefined) throw new Refused("delegation_unknown");
    const { state, waits, session, caller } = delegation;
    if (state === "open") throw new Refused("state_conflict");
    if (state === "cancelled" || delegation.reported) return deepStrictEqual(value, { reported: false });
    if (!waits && message !== undefined) this.#acceptUnseen(message, value?.claim);
    else strictEqual(value?.claim, undefined, "who waits gets no message");
    delegation.reported = true;
    if (waits) this.#wakeIfTold(delegation);
    else this.#shareTrust(this.sessions.get(session)!, this.sessions.get(caller)!);
    strictEqual(value?.reported, true);
  }

  #saveRelay(
    { relay: id, version, step, ...change }: Extract<Operation, { kind: "saveRelay" }>,
    value: { version: number; claim?: Claim } | undefined,
  ): void {
    const relay = this.relays.all.get(id);
    if (relay === undefined) throw new Refused("relay_unknown");
    if (relay.version !== version) throw new Refused("state_conflict");
    if (step !== undefined) this.#acceptUnseen(step, value?.claim);
    this.relays.save(relay, change);
    if (step !== undefined) this.relays.begin(relay, this.dispatches.get(`${step.name}/${step.send.hook}`)!);
    this.relays.settle();
    strictEqual(value?.version, relay.version);
  }

  #orderTurn(
    order: Extract<Operation, { kind: "orderTurn" }>,
    value: { item: string; fresh: boolean; claim?: Claim } | undefined,
  ): void {
    const { member, state, name, send } = order;
    const fresh = !this.events.has(name);
    this.#acceptUnseen(order, value?.claim);
    const item = this.dispatches.get(`${name}/${send.hook}`)!;
    this.team.order(member, { state, item });
    deepStrictEqual([value?.item, value?.fresh], [item.id, fresh]);
  }

  /** The answer says nothing of the dispatch but its claim. */
  #acceptUnseen(
    message: {
      readonly name: string;
      readonly send: Send;
      readonly ids: string;
      readonly claim: LeaseRequest | undefined;
    },
    claim: Claim | undefined,
  ): void {
    const { name, send } = message;
    const known = this.events.has(name);
    if (!known) this.events.set(name, { content: `message ${name}`, differing: 0 });
    try {
      this.#dispatch({ ...message, ...send }, { claim });
    } catch (error) {
      if (!known) this.events.delete(name);
      throw error;
    }
  }

  #expireDelegations(value: readonly string[]): void {
    const late = this.delegations.late(this.nowMs);
    const ended = late.filter((delegation) => this.#endDelegation(delegation, "timeout", TIMED_OUT) > 0);
    deepStrictEqual(
      value,
      ended.map(({ id }) => id),
    );
  }

  #cancel(label: string, value: number | undefined): void {
    if (!this.sessions.has(label)) throw new Refused("session_unknown");
    const given = this.delegations.open().filter(({ caller }) => caller === label);
    const counts = given.map((delegation) => this.#endDelegation(delegation, "cancelled", "asked"));
    strictEqual(
      value,
      counts.reduce((sum, count) => sum + count, 0),
    );
  }

  #cancelGiven(turn: string, reason: string): number {
    this.#settleDelegations();
    const given = this.delegations.open().filter(({ callerTurn }) => callerTurn === turn);
    return given.reduce((sum, each) => sum + this.#endDelegation(each, "cancelled", reason), 0);
  }

  /** With all that was given on from there. Returns how many have ended. */
  #endDelegation(delegation: ModelDelegation, state: "cancelled" | "timeout", reason: string): number {
    this.#settleDelegations();
    if (delegation.state !== "open") return 0;
    Object.assign(delegation, { state, endedMs: this.nowMs });
    const { item } = delegation;
    const session = this.sessions.get(item.session)!;
    let ended = 1;
    if (item.state === "queued") {
      Object.assign(item, { state: "dropped", policy: state });
      delete item.turn;
      this.#refresh(session);
    } else if (item.state === "claimed" && session.run!.item === item) ended += this.#abort(session, reason);
    if (state === "cancelled" && delegation.waits) this.#wakeIfTold(delegation);
    return ended;
  }

  #makeRoom(session: ModelSession, { mode, cap, drains }: Send): "free" | "made" | "none" {
    const waiting = this.#queued(session);
    const droppable = waiting.filter(({ turn }) => turn === undefined);
    const drained = mode === "interrupt" && drains !== undefined ? droppable : [];
    const excess = waiting.length - drained.length - ((cap?.max ?? Infinity) - 1);
    const pushable = cap?.drop === "new" || drained.length > 0 ? [] : droppable;
    if (excess > pushable.length) return "none";
    for (const item of drained) Object.assign(item, { state: "dropped", policy: "interrupt" });
    const pushed = pushable.slice(0, Math.max(excess, 0));
    for (const item of pushed) Object.assign(item, { state: "dropped", policy: cap!.drop });
    return drained.length + pushed.length > 0 ? "made" : "free";
  }

  #moveCollected(session: ModelSession, { mode, dueMs }: ModelItem): boolean {
    if (mode !== "collect" || dueMs.value <= this.nowMs) return false;
    let moved = false;
    for (const item of this.#queued(session)) {
      if (item.mode !== "collect" || item.turn !== undefined) continue;
      const latest = item.queuedMs + 10 * (dueMs.value - this.nowMs);
      const to = Math.min(dueMs.value, latest);
      moved ||= item.dueMs.value !== to;
      item.dueMs.value = to;
    }
    return moved;
  }

  #resolve(target: DispatchTarget): ModelSession {
    if (target.kind === "session") return this.sessions.get(target.session) ?? this.#open(target);
    if (!this.turns.has(target.turn)) throw new Refused("turn_unknown");
    const there = [...this.sessions.values()].filter(({ head }) => head === target.turn);
    there.sort((a, b) => b.usedMs - a.usedMs || b.order - a.order);
    if (there[0] !== undefined) return there[0];
    if (this.sessions.has(target.forkAs)) throw new Refused("session_exists");
    this.forked.add(target.turn);
    return this.#createFork(target.forkAs, target.turn);
  }

  #open({ session, agent, worker }: Extract<DispatchTarget, { kind: "session" }>): ModelSession {
    if (worker !== undefined && !this.sessions.has(worker.parent)) throw new Refused("session_unknown");
    return this.#create(session, { head: undefined, agent, parent: worker?.parent });
  }

  /** A turn passes on whose it was. */
  #createFork(label: string, turn: string): ModelSession {
    const { session, trust } = this.turns.get(turn)!;
    const origin = this.sessions.get(session)!;
    const pointing = [...this.sessions.values()].filter(({ head }) => head === turn);
    const all = [trust, ...[origin, ...pointing].map(({ settings }) => settings?.["trust"])];
    const joined = joinTrust(NO_TRUST, ...all.map((each) => parseTrust(each ?? null)));
    const fork = this.#create(label, { head: turn, agent: origin.agent });
    if (!isUnlabelled(joined) || joined.outward) fork.settings = { trust: trustJson(joined) };
    return fork;
  }

  #create(
    label: string,
    { head, agent, parent }: Pick<ModelSession, "head" | "agent"> & { parent?: string | undefined },
  ): ModelSession {
    const session: ModelSession = {
      label,
      order: this.sessions.size,
      agent,
      parent,
      settings: undefined,
      head,
      epoch: 0,
      holder: undefined,
      run: undefined,
      readyMs: undefined,
      usedMs: this.nowMs,
    };
    this.sessions.set(label, session);
    return session;
  }

  #ready(holder: string): ModelSession[] {
    const ready = [...this.sessions.values()].filter(
      (session) =>
        session.readyMs !== undefined && session.readyMs <= this.nowMs && session.holder !== holder,
    );
    return ready.toSorted((a, b) => a.readyMs! - b.readyMs! || a.epoch - b.epoch || a.order - b.order);
  }

  #lease({ request, max }: Extract<Operation, { kind: "lease" }>, claims: Claim[]): void {
    const waiting = this.#ready(request.holder);
    strictEqual(claims.length, Math.min(max, waiting.length), "as many sessions as are ready are given");
    for (const claim of claims) {
      const longest = this.#ready(request.holder)[0]!;
      const session = this.sessions.get(claim.lease.session)!;
      ok(session.holder !== request.holder);
      strictEqual(session.readyMs, longest.readyMs, "whoever has waited longest comes first");
      this.#claim(session, request, claim);
    }
  }

  /** A claim that the store gave: takes its new ids over and checks everything else. */
  #claim(session: ModelSession, request: LeaseRequest, claim: Claim): void {
    const old = session.run;
    let run: ModelRun;
    if (old === undefined) {
      const due = this.#queued(session).filter(({ dueMs }) => dueMs.value <= this.nowMs);
      const item = due.find(({ mode }) => mode === "interrupt") ?? due[0];
      ok(item !== undefined, "a session without work is not claimed");
      run = this.#startRun(session, claim, item, item.turn);
      const taken =
        item.turn === undefined ? [item] : this.#queued(session).filter(({ turn }) => turn === item.turn);
      for (const each of taken) {
        each.state = "claimed";
        each.turn = run.turn;
      }
    } else if (old.state === "failed") {
      run = this.#startRun(session, claim, old.item, old.turn, old);
    } else {
      ok(old.state !== "suspended", "a suspended run is not claimed");
      if (old.state === "running")
        old.interruptions = old.progress > old.claimedProgress ? 1 : old.interruptions + 1;
      run = old;
    }
    run.state = "running";
    run.parent = session.head;
    run.claimedProgress = run.progress;
    run.wait = undefined;
    run.compacting = false;
    Object.assign(session, { run, epoch: session.epoch + 1, holder: request.holder, usedMs: this.nowMs });
    session.readyMs = this.nowMs + request.ttlMs;
    deepStrictEqual(claim, {
      lease: { session: session.label, epoch: session.epoch },
      run: run.id,
      turn: run.turn,
      parent: run.parent,
      attempt: run.attempt,
      interruptions: run.interruptions,
      journalled: run.progress > 0,
      abort: run.abort,
    });
  }

  #startRun(
    session: ModelSession,
    claim: Claim,
    item: ModelItem,
    turn: string | undefined,
    before?: ModelRun,
  ): ModelRun {
    ok(!this.runs.has(claim.run), "a run's id is new");
    ok(turn !== undefined || !this.drafts.has(claim.turn), "a turn's id is new");
    const name = turn ?? claim.turn;
    if (!this.drafts.has(name)) this.drafts.set(name, { messages: new Map(), calls: new Map() });
    const earlier = [...this.runs.values()].findLast((run) => run.turn === name);
    const run: ModelRun = {
      id: claim.run,
      turn: name,
      session: session.label,
      attempt: (before?.attempt ?? 0) + 1,
      item,
      state: "running",
      parent: session.head,
      interruptions: 0,
      progress: earlier?.progress ?? 0,
      claimedProgress: earlier?.progress ?? 0,
      abort: before?.abort,
      abortedBy: before?.abortedBy,
      compacting: false,
      wait: undefined,
      endedEpoch: undefined,
    };
    this.runs.set(run.id, run);
    return run;
  }

  #queued(session: ModelSession): ModelItem[] {
    return this.items.filter((item) => item.session === session.label && item.state === "queued");
  }

  #claimed(session: ModelSession): ModelItem[] {
    return this.items.filter((item) => item.session === session.label && item.state === "claimed");
  }

  /** The fence. */
  #held(lease: Lease, run: string): ModelSession {
    const session = this.sessions.get(lease.session);
    if (session === undefined) throw new Refused("session_unknown");
    if (!this.holds(lease, run)) throw new Refused("lease_lost");
    return session;
  }

  #renew({ request, leases }: Extract<Operation, { kind: "renew" }>, lost: Lease[]): void {
    const expected = leases.filter((lease) => {
      const session = this.sessions.get(lease.session);
      const good =
        session?.epoch === lease.epoch && session.holder === request.holder && session.run !== undefined;
      if (good) session.readyMs = this.nowMs + request.ttlMs;
      return !good;
    });
    deepStrictEqual(lost, expected);
  }

  #release(leases: readonly Lease[]): void {
    for (const lease of leases) {
      const session = this.sessions.get(lease.session);
      if (session?.epoch !== lease.epoch || session.holder === undefined) continue;
      session.run!.state = "resumable";
      session.holder = undefined;
      session.readyMs = this.nowMs;
    }
  }

  #drop({ items, policy }: Extract<Operation, { kind: "drop" }>, dropped: string[]): void {
    const found = items.map((id) => this.#item(id));
    const expected = found.filter((item) => {
      if (item.state === "dropped") return item.policy === policy;
      if (item.state !== "queued") return false;
      item.state = "dropped";
      item.policy = policy;
      delete item.turn; // a dead letter's turn may still come about, without this item
      this.#refresh(this.sessions.get(item.session)!);
      return true;
    });
    deepStrictEqual(
      dropped,
      expected.map(({ id }) => id),
    );
  }

  #item(id: string): ModelItem {
    const item = this.items.find((each) => each.id === id);
    if (item === undefined) throw new Refused("item_unknown");
    return item;
  }

  /** A session that has something due and was ready before keeps its place in the line. */
  #refresh(session: ModelSession): void {
    if (session.run !== undefined) return;
    const due = this.#queued(session).map(({ dueMs }) => dueMs.value);
    const first = Math.min(...due);
    if (due.length === 0) session.readyMs = undefined;
    else session.readyMs = first > this.nowMs ? first : Math.min(session.readyMs ?? this.nowMs, this.nowMs);
  }

  #retryDead(id: string): void {
    const item = this.#item(id);
    if (item.state === "queued" && item.turn !== undefined) return;
    if (item.state !== "dead") throw new Refused("state_conflict");
    for (const each of this.items.filter(({ turn, state }) => turn === item.turn && state === "dead")) {
      each.state = "queued";
      each.dueMs.value = this.nowMs;
    }
    this.#refresh(this.sessions.get(item.session)!);
  }

  #dropDead(id: string): void {
    const item = this.#item(id);
    if (item.state === "dropped") return;
    if (item.state !== "dead") throw new Refused("state_conflict");
    for (const each of this.items.filter(({ turn, state }) => turn === item.turn && state === "dead")) {
      each.state = "dropped";
      each.policy = "dead letter given up";
    }
    this.drafts.set(item.turn!, { messages: new Map(), calls: new Map() });
  }

  /** All entries or none, as one transaction would. */
  #journal(run: ModelRun, entries: readonly JournalEntry[]): void {
    const draft = this.drafts.get(run.turn)!;
    const messages = new Map(draft.messages);
    const calls = new Map(draft.calls);
    const taken: ModelItem[] = [];
    const told: ModelItem[] = [];
    let written = 0;
    for (const entry of entries) {
      if (entry.kind === "message") {
        const there = messages.get(entry.place);
        if (there !== undefined && there !== entry.message.content) throw new Refused("journal_conflict");
        if (there !== undefined) {
          const all = (entry.items ?? []).map((id) => this.items.find((each) => each.id === id));
          const isPart = (item: ModelItem): boolean =>
            item.turn === run.turn || taken.includes(item) || told.includes(item);
          if (all.some((item) => item === undefined || !isPart(item))) throw new Refused("journal_conflict");
          continue;
        }
        if (entry.place > 0 && !messages.has(entry.place - 1)) throw new Refused("journal_conflict");
        if (run.abort !== undefined && this.#bringsNew(run, entry.items)) throw new Refused("state_conflict");
        for (const id of entry.items ?? []) {
          const item = this.items.find((each) => each.id === id);
          if (item === undefined) throw new Refused("item_unknown");
          if (taken.includes(item) || told.includes(item)) continue;
          const here = item.session === run.session;
          if (here && item.state === "queued") taken.push(item);
          else if (here && isUnseen(item)) told.push(item);
          else if (item.turn !== run.turn) throw new Refused("item_unknown");
        }
        messages.set(entry.place, entry.message.content);
      } else if (entry.kind === "call") {
        if (calls.has(entry.ordinal)) continue;
        if (entry.ordinal > 0 && !calls.has(entry.ordinal - 1)) throw new Refused("journal_conflict");
        calls.set(entry.ordinal, undefined);
      } else {
        if (!calls.has(entry.ordinal)) throw new Refused("journal_conflict");
        const there = calls.get(entry.ordinal);
        const result = JSON.stringify(entry.result);
        if (there !== undefined && there !== result) throw new Refused("journal_conflict");
        if (there !== undefined) continue;
        calls.set(entry.ordinal, result);
      }
      written++;
    }
    for (const item of taken) {
      item.state = "claimed";
      item.turn = run.turn;
    }
    for (const item of told) item.turn = run.turn;
    this.drafts.set(run.turn, { messages, calls });
    run.progress += written;
  }

  /** Whether a message would take any into the turn of a run that are not part of it yet. */
  #bringsNew({ turn }: ModelRun, items: readonly string[] = []): boolean {
    return items.some((id) => this.items.find((item) => item.id === id)?.turn !== turn);
  }

  #suspend({ lease, run, wait, requests }: Extract<Operation, { kind: "suspend" }>): void {
    const session = this.sessions.get(lease.session);
    const before = session?.run?.id === run && session.run.state === "suspended" && session.run.wait === wait;
    if (before && session.epoch === lease.epoch) return;
    const held = this.#held(lease, run);
    const { turn } = held.run!;
    const known = requests.map(({ id }) => this.approvals.get(id)).filter((each) => each !== undefined);
    if (known.some((approval) => approval.turn !== turn)) throw new Refused("state_conflict");
    for (const { id, kind, expiresAtMs } of requests) {
      if (this.approvals.has(id)) continue;
      const asked = { id, kind, turn, session: held.label, expiresMs: expiresAtMs };
      this.approvals.set(id, { ...asked, state: "open" });
    }
    held.run!.state = "suspended";
    held.run!.wait = wait;
    held.holder = undefined;
    held.readyMs = undefined;
    if (held.run!.abort !== undefined) this.#abort(held, held.run!.abort);
    else if (known.some(({ state }) => state !== "open") || this.#isTold(turn)) this.#wake(held);
  }

  #wake(session: ModelSession): void {
    session.run!.state = "resumable";
    session.readyMs = this.nowMs;
  }

  #answer(id: string, answer: ApprovalAnswer, value: Approval | undefined): void {
    const approval = this.approvals.get(id);
    if (approval === undefined) throw new Refused("approval_unknown");
    const isSame = JSON.stringify(approval.answer) === JSON.stringify(answer);
    if (!isSame) {
      const isLate = approval.state === "open" && (approval.expiresMs ?? Infinity) <= this.nowMs;
      if (approval.state === "expired" || isLate) throw new Refused("approval_expired");
      if (approval.state !== "open") throw new Refused("state_conflict");
      const unfit = approval.kind === "question" ? "approve" : "answer";
      if (answer.kind === unfit) throw new Refused("state_conflict");
      approval.state = ({ approve: "approved", deny: "denied", answer: "answered" } as const)[answer.kind];
      approval.answer = answer;
      this.#wakeAsker(approval);
    }
    if (value !== undefined) strictEqual(value.state, approval.state);
  }

  #wakeAsker({ session: label, turn }: ModelApproval): void {
    const session = this.sessions.get(label)!;
    if (session.run?.turn === turn && session.run.state === "suspended") this.#wake(session);
  }

  #use(
    { lease, run, approval: id }: Extract<Operation, { kind: "use" }>,
    value: unknown,
    answered: boolean,
  ): void {
    const { turn } = this.#held(lease, run).run!;
    const approval = this.approvals.get(id);
    if (approval === undefined) throw new Refused("approval_unknown");
    const { state } = approval;
    if (approval.turn !== turn || (state !== "approved" && state !== "used"))
      throw new Refused("state_conflict");
    if (answered) strictEqual(value, state === "approved");
    approval.state = "used";
  }

  #expire(value: readonly string[]): void {
    const late = [...this.approvals.values()].filter(
      ({ state, expiresMs = Infinity }) => state === "open" && expiresMs <= this.nowMs,
    );
    deepStrictEqual(value.toSorted(), late.map(({ id }) => id).toSorted());
    for (const approval of late) {
      approval.state = "expired";
      this.#wakeAsker(approval);
    }
  }

  /** Nobody has to decide any more what a turn has asked. */
  #takeBack(turn: string): void {
    for (const approval of this.approvals.values())
      if (approval.turn === turn && approval.state === "open") approval.state = "void";
  }

  #resume(operation: Extract<Operation, { kind: "resume" }>, value: unknown, answered: boolean): void {
    const target = this.runs.get(operation.run);
    if (target === undefined) throw new Refused("run_unknown");
    const waits = target.state === "suspended" && target.wait === operation.wait;
    if (waits) this.#journal(target, operation.entries);
    if (answered) strictEqual(value, waits);
    if (!waits) return;
    target.state = "resumable";
    this.sessions.get(target.session)!.readyMs = this.nowMs;
  }

  #requestAbort(run: string, value: unknown, answered: boolean): void {
    const target = this.runs.get(run);
    if (target === undefined) throw new Refused("run_unknown");
    const session = this.sessions.get(target.session)!;
    if (answered) strictEqual(value, session.run === target);
    if (session.run === target) this.#abort(session, "asked");
  }

  /** With all that the turn has given. Returns how much that was. */
  #abort(session: ModelSession, reason: string, by?: string): number {
    const run = session.run!;
    if (run.abort === undefined) Object.assign(run, { abort: reason, abortedBy: by });
    this.#takeBack(run.turn);
    const ended = this.#cancelGiven(run.turn, reason);
    if (session.holder !== undefined) return ended;
    if (run.state === "suspended") run.state = "resumable";
    session.readyMs = Math.min(session.readyMs ?? this.nowMs, this.nowMs);
    return ended;
  }

  #fail(operation: Extract<Operation, { kind: "fail" }>, value: { next?: Claim } | undefined): void {
    let session: ModelSession;
    try {
      session = this.#held(operation.lease, operation.run);
    } catch (error) {
      const run = this.runs.get(operation.run);
      if (run?.state !== "failed" || run.endedEpoch !== operation.lease.epoch) throw error;
      return strictEqual(value?.next, undefined);
    }
    session.run!.state = "failed";
    session.run!.endedEpoch = session.epoch;
    if (operation.retryAtMs === undefined) {
      for (const item of this.#claimed(session)) item.state = "dead";
      this.#takeBack(session.run!.turn);
      return this.#finish(session, session.head, operation.claimNext, value?.next);
    }
    session.holder = undefined;
    session.readyMs = session.run!.abort === undefined ? operation.retryAtMs : this.nowMs;
    this.#claimNext(operation.claimNext, value?.next);
  }

  #commit(operation: Extract<Operation, { kind: "commit" }>, value: { next?: Claim } | undefined): void {
    let session: ModelSession;
    try {
      session = this.#held(operation.lease, operation.run);
    } catch (error) {
      const run = this.runs.get(operation.run);
      const ended = run?.turn === operation.turn && run.endedEpoch === operation.lease.epoch;
      const committed = ended && (run.state === "completed" || run.state === "aborted");
      if (!committed) throw error;
      return strictEqual(value?.next, undefined);
    }
    const run = session.run!;
    if (run.turn !== operation.turn) throw new Refused("turn_invalid");
    if (operation.parent !== undefined && !this.turns.has(operation.parent))
      throw new Refused("turn_unknown");
    if (session.head !== run.parent || session.head !== operation.parent) throw new Refused("head_moved");
    const draft = this.drafts.get(run.turn)!;
    for (const item of this.#claimed(session)) item.state = item === run.item ? "done" : "merged";
    this.turns.set(run.turn, {
      id: run.turn,
      parent: session.head,
      session: session.label,
      type: "normal",
      event: run.item.lateEvent ?? `test:${run.item.event}`,
      trust: session.settings?.["trust"],
      messages: draft.messages.size + 1,
    });
    run.state = operation.status;
    run.endedEpoch = session.epoch;
    this.#takeBack(run.turn);
    if (run.state === "aborted") this.#cancelGiven(run.turn, "the delegating turn was aborted");
    this.#addDeliveries(operation.deliveries);
    this.#finish(session, run.turn, operation.claimNext, value?.next);
  }

  #addDeliveries(deliveries: readonly NewDelivery[]): void {
    for (const { id, target } of deliveries) {
      this.deliveries.set(id, {
        id,
        target: target.place,
        state: "pending",
        epoch: 0,
        holder: undefined,
        dueMs: this.nowMs,
        chunks: [],
      });
    }
  }

  #finish(
    session: ModelSession,
    head: string | undefined,
    request: LeaseRequest | undefined,
    claim: Claim | undefined,
  ): void {
    Object.assign(session, { head, run: undefined, holder: undefined, usedMs: this.nowMs });
    // It was held till now, so that it has not waited before this moment.
    session.readyMs = this.nowMs;
    // While it is decided who comes next, whoever waits already goes before this session.
    const others =
      request === undefined ? [] : this.#ready(request.holder).filter((other) => other !== session);
    this.#refresh(session);
    if (others.length > 0)
      ok(claim !== undefined && claim.lease.session !== session.label, "others go first");
    this.#claimNext(request, claim);
  }

  #claimNext(request: LeaseRequest | undefined, claim: Claim | undefined): void {
    const waiting = request === undefined ? [] : this.#ready(request.holder);
    strictEqual(claim !== undefined, waiting.length > 0, "a free slot is used");
    if (claim === undefined) return;
    const session = this.sessions.get(claim.lease.session)!;
    ok(waiting.includes(session), "the next session was ready");
    this.#claim(session, request!, claim);
  }

  #compact({ lease, run, turn, firstKept }: Extract<Operation, { kind: "compact" }>): void {
    const before = this.turns.get(turn);
    if (before?.type === "compaction" && before.session === lease.session) return;
    const session = this.#held(lease, run);
    if (before !== undefined) throw new Refused("state_conflict");
    if (session.head === undefined) throw new Refused("turn_invalid");
    if (firstKept !== undefined && !this.turns.has(firstKept)) throw new Refused("turn_unknown");
    if (firstKept !== undefined && !this.context(session.head).includes(firstKept))
      throw new Refused("turn_invalid");
    const parent = session.head;
    this.turns.set(turn, {
      id: turn,
      parent,
      session: session.label,
      type: "compaction",
      event: undefined,
      messages: 1,
      trust: session.settings?.["trust"],
    });
    session.head = turn;
    session.run!.parent = turn;
    session.run!.compacting = false;
    session.run!.progress++;
  }

  /** The turns from here back to the last compaction, which itself is not among them. */
  context(from: string): string[] {
    const turns: string[] = [];
    for (let at: string | undefined = from; at !== undefined; at = this.turns.get(at)!.parent) {
      if (this.turns.get(at)!.type === "compaction") break;
      turns.push(at);
    }
    return turns;
  }

  #fork(turn: TurnId, label: string): void {
    if (!this.turns.has(turn)) throw new Refused("turn_unknown");
    const there = this.sessions.get(label);
    if (there !== undefined && (there.head !== turn || there.epoch > 0)) throw new Refused("session_exists");
    this.forked.add(turn);
    if (there === undefined) this.#createFork(label, turn);
  }

  #reset(label: string): void {
    const session = this.sessions.get(label);
    if (session === undefined) throw new Refused("session_unknown");
    session.head = undefined;
    session.usedMs = this.nowMs;
    const isReplayable = ({ state, turn, session: of }: ModelItem): boolean =>
      of === label && turn !== undefined && ["queued", "claimed", "dead"].includes(state);
    if (session.run !== undefined || this.items.some(isReplayable)) return;
    if (session.settings !== undefined)
      session.settings = merged(session.settings, { trust: null }) as Settings;
  }

  #configure({
    session: label,
    settings,
    tooLarge,
    createFor,
  }: Extract<Operation, { kind: "configure" }>): void {
    if (!this.sessions.has(label) && createFor === undefined) throw new Refused("session_unknown");
    if (tooLarge) throw new Refused("limit_invalid");
    const session = this.sessions.get(label) ?? this.#create(label, { head: undefined, agent: createFor! });
    session.settings = merged(session.settings ?? {}, settings) as Settings;
  }

  #claimDeliveries(
    { request, max }: Extract<Operation, { kind: "claimDeliveries" }>,
    claims: DeliveryClaim[],
  ): void {
    const open = [...this.deliveries.values()].filter(
      ({ state }) => !["sent", "dead", "dropped"].includes(state),
    );
    for (const delivery of open) {
      const expired = delivery.state === "sending" && delivery.dueMs <= this.nowMs;
      if (expired) this.#abandon(delivery, delivery.dueMs);
    }
    const first = open.filter(
      (delivery, i) => open.findIndex(({ target }) => target === delivery.target) === i,
    );
    const due = first.filter(({ state, dueMs }) => state !== "sending" && dueMs <= this.nowMs).slice(0, max);
    deepStrictEqual(
      claims.map(({ delivery, state }) => [delivery, state]),
      due.map(({ id, state }) => [id, state]),
    );
    due.forEach((delivery, i) => {
      Object.assign(delivery, { state: "sending", epoch: delivery.epoch + 1, holder: request.holder });
      delivery.dueMs = this.nowMs + request.ttlMs;
      strictEqual(claims[i]!.epoch, delivery.epoch);
    });
  }

  #abandon(delivery: ModelDelivery, dueMs: number): void {
    for (const chunk of delivery.chunks) if (chunk.state === "sending") chunk.state = "unknown";
    delivery.state = delivery.chunks.some(({ state }) => state === "unknown") ? "unknown" : "pending";
    delivery.holder = undefined;
    delivery.dueMs = dueMs;
  }

  #fenced({ delivery: id, epoch }: { delivery: string; epoch: number }): ModelDelivery {
    const delivery = this.deliveries.get(id);
    if (delivery === undefined) throw new Refused("delivery_unknown");
    const good = delivery.epoch === epoch && (delivery.state === "sending" || delivery.state === "sent");
    if (!good) throw new Refused("lease_lost");
    return delivery;
  }

  #chunk(delivery: ModelDelivery, place: number): ModelDelivery["chunks"][number] {
    const chunk = delivery.chunks[place];
    if (chunk === undefined) throw new Refused("delivery_unknown");
    return chunk;
  }

  #settle({ fence, chunk: place, outcome }: Extract<Operation, { kind: "settle" }>): void {
    const known = this.deliveries.get(fence.delivery);
    const after = { sent: "sent", dead: "dead", unknown: "unknown", retry: "pending" }[outcome.kind];
    if (known?.epoch === fence.epoch && known.state !== "sending" && known.state === after) return;
    const delivery = this.#fenced(fence);
    const chunk = this.#chunk(delivery, place);
    if (chunk.state === "sent") return;
    if (outcome.kind === "sent") {
      chunk.state = "sent";
      if (delivery.chunks.every(({ state }) => state === "sent")) delivery.state = "sent";
      return;
    }
    chunk.state = outcome.kind === "unknown" ? "unknown" : "pending";
    delivery.holder = undefined;
    delivery.state = outcome.kind === "dead" ? "dead" : outcome.kind === "unknown" ? "unknown" : "pending";
    if (outcome.kind !== "dead") delivery.dueMs = outcome.retryAtMs;
  }

  #retryDelivery(id: string): void {
    const delivery = this.deliveries.get(id);
    if (delivery === undefined) throw new Refused("delivery_unknown");
    if (delivery.state === "pending") return;
    if (delivery.state !== "dead") throw new Refused("state_conflict");
    delivery.state = "pending";
    delivery.dueMs = this.nowMs;
  }

  #dropDelivery(id: string): void {
    const delivery = this.deliveries.get(id);
    if (delivery === undefined) throw new Refused("delivery_unknown");
    if (delivery.state === "dropped") return;
    if (delivery.state !== "dead") throw new Refused("state_conflict");
    delivery.state = "dropped";
  }
}

function isEnded(state: ModelRun["state"]): boolean {
  return state === "completed" || state === "aborted";
}

/** A null removes a field, objects merge field by field, all else replaces what was there. */
function merged(before: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const fields = new Map(Object.entries(isObject(before) ? before : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) fields.delete(name);
    else fields.set(name, merged(fields.get(name), value));
  }
  return Object.fromEntries(fields);
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Dropped to make room, and no turn has been told of it. */
export function isUnseen({ state, policy, turn }: ModelItem): boolean {
  return state === "dropped" && policy === "summarize" && turn === undefined;
}

export function isOpen({ state, session }: ModelItem, label: string): boolean {
  return session === label && (state === "queued" || state === "claimed");
}
