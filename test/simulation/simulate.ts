/**
 * One seed of the simulation: random calls of all verbs over several sessions and holders, with a clock
 * that only the simulation moves and a writer that dies now and then. Every answer is compared with the
 * model's, the whole state after every crash and at the end, and in the end all work must come to rest.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { CortexError } from "../../src/model/errors.ts";
import type {
  AgentId,
  ApprovalId,
  DelegationId,
  ItemId,
  RelayId,
  RunId,
  TurnId,
} from "../../src/model/ids.ts";
import type { QueueMode } from "../../src/model/queue-mode.ts";
import type { SessionKey } from "../../src/model/session-key.ts";
import { openSqliteStore, type SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type {
  Accepted,
  ApprovalAnswer,
  Claim,
  DeliveryClaim,
  DeliveryFence,
  Dispatched,
  HookFile,
  JournalEntry,
  LeaseRequest,
  NewApproval,
  NewWorker,
  Recorded,
  Settings,
} from "../../src/store/store.ts";
import { PRUNE_KINDS } from "../../src/store/store.ts";
import { message, session, START_MS, toSession } from "../support/sample.ts";
import { memoryParent, temporaryFolder } from "../support/temporary.ts";
import { crashingConnection } from "./crashing-connection.ts";
import { type Answer, isOpen, isUnseen, Model, type ModelApproval } from "./model.ts";
import { hookState } from "./model-hooks.ts";
import { delivery, type Operation, perform, type Send } from "./operation.ts";
import { createRandom, type Random } from "./random.ts";
import { RawReader } from "./raw-reader.ts";

const LABELS = ["work", "home", "agent:main:main", "agent:ops:cron:nightly"];
/** Sessions that others open. */
const WORKERS = ["worker-1", "worker-2", "worker-3"];
const HOLDERS: readonly LeaseRequest[] = [
  { holder: "one", ttlMs: 10_000 },
  { holder: "two", ttlMs: 25_000 },
  { holder: "three", ttlMs: 60_000 },
];
const SETTINGS: readonly Settings[] = [
  { profile: "fast" },
  { profile: null },
  { queue: { mode: "collect", cap: 5 } },
  { queue: { cap: null, drop: "old" } },
  { queue: null, note: ["a", { b: null }] },
  { trust: { untrusted: true } },
  { trust: { untrusted: { "person:ada": true }, denied: { Bash: true } } },
  { trust: { private: { owner: true }, outward: false } },
];
const ANSWERS: readonly ApprovalAnswer[] = [
  { kind: "approve", by: "ana" },
  { kind: "approve", by: "ben" },
  { kind: "deny", by: "ana", reason: "no" },
  { kind: "answer", by: "ana", text: "yes" },
];
const MEMBERS = ["billing-dev", "dashboard-dev"];
const RELAYS = ["thr_00000001", "thr_00000002"] as RelayId[];
/** The second is a one-shot, the third fails most of the time. */
const HOOKS = ["first", "second", "third"];

type Fate = "lives" | "dies before the batch" | "dies after the commit";

const STEPS = 70;
const MAX_BATCH = 4;

export async function simulate(seed: number): Promise<void> {
  const trace: string[] = [];
  using folder = temporaryFolder(memoryParent());
  const path = join(folder.path, "cortex.db");
  writeFileSync(path, await (emptyDatabase ??= createEmpty()));
  await using simulation = new Simulation(createRandom(seed), path, trace);
  try {
    await simulation.run();
  } catch (error) {
    const story = trace.slice(-25).join("\n  ");
    throw new Error(`Seed ${seed} fails. Its last steps:\n  ${story}`, { cause: error });
  }
}

/** A store in which nothing has happened yet. It is made once, since a schema takes longer than many a step. */
let emptyDatabase: Promise<Buffer> | undefined;

async function createEmpty(): Promise<Buffer> {
  using folder = temporaryFolder(memoryParent());
  const path = join(folder.path, "cortex.db");
  await (await openSqliteStore({ path, clock: () => START_MS }))[Symbol.asyncDispose]();
  return readFileSync(path);
}

class Simulation {
  readonly #random: Random;
  readonly #path: string;
  readonly #trace: string[];
  readonly #model = new Model();
  #store: SqliteStore | undefined;
  #raw: RawReader | undefined;
  #fate: Fate = "lives";
  #names = 0;
  /** Claims that were given out and may still be used, long after they were lost too. */
  readonly #claims: Claim[] = [];
  readonly #sends: DeliveryClaim[] = [];
  readonly #attempts = new Set<string>();
  /** What the platform has received: the truth that an unknown send is reconciled with. */
  readonly #received: { readonly delivery: string; readonly target: string; readonly chunk: number }[] = [];

  constructor(random: Random, path: string, trace: string[]) {
    this.#random = random;
    this.#path = path;
    this.#trace = trace;
    this.#model.nowMs = START_MS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#raw?.[Symbol.dispose]();
    await this.#store?.crash();
  }

  async run(): Promise<void> {
    await this.#open();
    this.#raw = new RawReader(this.#path);
    await this.#send([{ kind: "syncHooks", found: HOOKS.map((name) => this.#hookFile(name)) }], "lives");
    for (let step = 0; step < STEPS; step++) {
      if (this.#random.chance(0.3)) this.#advance(this.#random.pick([1, 500, 9_000, 30_000]));
      if (this.#random.chance(0.04)) await this.#crash();
      const fate = this.#random.chance(0.05)
        ? this.#random.pick<Fate>(["dies before the batch", "dies after the commit"])
        : "lives";
      await this.#send(this.#batch(), fate);
      if (this.#random.chance(0.015)) await this.#prune();
      if (this.#random.chance(0.2)) await this.#checkReads();
    }
    await this.#drain();
    await this.#checkReads();
    this.#compareAll();
    this.#checkInvariants();
    await this.#checkHashes();
    await this.#checkChanges();
  }

  /**
   * Puts a batch to the store at once, and its answers to the model one after another. Where the writer
   * dies, before it has read the batch or after it has committed it, nobody knows what became of the
   * calls; so they are made again, and must have been done once.
   */
  async #send(operations: readonly Operation[], fate: Fate): Promise<void> {
    this.#fate = fate;
    for (const operation of operations) this.#trace.push(`${fate}: ${JSON.stringify(operation)}`);
    const answers = await Promise.all(operations.map((operation) => ask(this.#store!, operation)));
    if (fate === "dies before the batch") {
      for (const answer of answers) deepStrictEqual(answer, { refused: "store_writer_lost" });
    } else {
      operations.forEach((operation, i) => this.#learn(operation, answers[i]!));
    }
    if (fate === "lives") return;
    await this.#crash();
    for (const operation of operations) await this.#send([operation], "lives");
  }

  #learn(operation: Operation, answer: Answer): void {
    this.#model.apply(operation, answer);
    if (!("value" in answer)) return;
    this.#claims.push(...claimsIn(operation, answer.value));
    if (operation.kind === "claimDeliveries") this.#sends.push(...(answer.value as DeliveryClaim[]));
    if (operation.kind === "sending") this.#receive(operation.fence, operation.chunk);
  }

  /** Between saying that it sends and hearing back, a sender may reach the platform or not. */
  #receive({ delivery: id, epoch }: DeliveryFence, chunk: number): void {
    const attempt = `${id}/${chunk}/${epoch}`;
    if (this.#attempts.has(attempt)) return; // the note was made twice, the sending is one
    this.#attempts.add(attempt);
    const { target } = this.#model.deliveries.get(id)!;
    if (this.#random.chance(0.7)) this.#received.push({ delivery: id, target, chunk });
  }

  #hasReceived(id: string, chunk: number): boolean {
    return this.#received.some((entry) => entry.delivery === id && entry.chunk === chunk);
  }

  async #open(): Promise<void> {
    const connect = crashingConnection(() => this.#fate === "dies before the batch");
    this.#store = await openSqliteStore({ path: this.#path, clock: () => this.#model.nowMs, connect });
  }

  async #crash(): Promise<void> {
    this.#trace.push("crash");
    await this.#store!.crash();
    this.#model.crash();
    await this.#open();
    this.#compareAll();
  }

  /**
   * Prunes, and may die in the middle of it, after which it is done again. What is to go the store decides; that
   * nothing goes which somebody needs, and that all else is as it was, is checked here.
   */
  async #prune(): Promise<void> {
    const beforeMs = this.#model.nowMs - this.#random.pick([0, 10_000, 60_000]);
    const needed = await this.#contextsInUse(beforeMs);
    const max = 1 + this.#random.below(5);
    let left = this.#random.chance(0.3) ? this.#random.below(8) : Infinity;
    this.#trace.push(`prune before ${beforeMs}, ${max} at a time, dies after ${left}`);
    for (const kind of PRUNE_KINDS) {
      let after: number | undefined;
      do {
        if (left-- === 0) {
          await this.#crash();
          after = undefined;
        }
        ({ next: after } = await this.#store!.prune(kind, { beforeMs, after, max }));
      } while (after !== undefined);
    }
    if (this.#random.chance(0.3)) await this.#store!.forgetPruned();
    const pruned = this.#raw!.all("select id from events where pruned_at is not null") as { id: string }[];
    this.#model.prune(new Set(pruned.map(({ id }) => id.replace(/^test:/, ""))));
    deepStrictEqual(await this.#contextsInUse(beforeMs), needed);
    this.#compareAll();
  }

  /** What the sessions say that somebody is in the middle of. */
  async #contextsInUse(beforeMs: number): Promise<unknown[]> {
    const sessions = [...this.#model.sessions.values()].filter(
      ({ label, usedMs, run, head }) =>
        head !== undefined &&
        (usedMs >= beforeMs || run !== undefined || this.#model.items.some((item) => isOpen(item, label))),
    );
    return Promise.all(
      sessions.map(async ({ head, label }) => ({
        label,
        context: await this.#store!.turns.context(head as TurnId),
      })),
    );
  }

  #advance(ms: number): void {
    this.#model.nowMs += ms;
    this.#trace.push(`advance ${ms}`);
  }

  #batch(): Operation[] {
    if (this.#random.chance(0.03)) return this.#failures();
    if (this.#random.chance(0.1)) return this.#handingOut();
    const size = this.#random.chance(0.4) ? 1 + this.#random.below(MAX_BATCH) : 1;
    return Array.from({ length: size }, () => this.#operation());
  }

  #operation(): Operation {
    const random = this.#random;
    const model = this.#model;
    const holder = random.pick(HOLDERS);
    const claim = random.chance(0.6) ? holder : undefined;
    const turns = [...model.turns.keys()] as TurnId[];
    const items = model.items.map(({ id }) => id as ItemId);
    const live = this.#claims.filter(({ lease, run }) => model.holds(lease, run));
    const claims = live.length > 0 && random.chance(0.5) ? live : this.#claims.slice(-8);
    const held = claims.length === 0 ? undefined : random.pick(claims);
    const choice = random.fraction();
    if (choice < 0.2 || model.items.length === 0) return this.#accept(claim);
    if (choice < 0.22) return this.#decide();
    if (choice < 0.24) return this.#hooksChange();
    if (choice < 0.28) return this.#machinery(claim);
    if (choice < 0.3) return this.#judge(claim);
    if (choice < 0.31) return { kind: "index", max: 1 + random.below(20) };
    if (choice < 0.34) {
      const name = random.pick([...model.events.keys(), "never-seen"]);
      const hook = random.pick(["alpha", "beta"]);
      return { kind: "dispatch", name, send: this.#sending(hook), ids: this.#name(), claim };
    }
    if (choice < 0.42) return { kind: "lease", request: holder, max: 1 + random.below(3) };
    if (choice < 0.44) {
      return { kind: "renew", request: holder, leases: this.#claims.slice(-4).map(({ lease }) => lease) };
    }
    if (choice < 0.46 && turns.length > 0) {
      const label = session(random.chance(0.2) ? random.pick(LABELS) : `fork-${this.#name()}`);
      return { kind: "fork", turn: random.chance(0.1) ? ("none" as TurnId) : random.pick(turns), label };
    }
    if (choice < 0.47) return { kind: "reset", session: session(random.pick([...LABELS, "unknown"])) };
    if (choice < 0.49) return this.#configure();
    if (choice < 0.51)
      return { kind: "drop", items: [random.pick(items), random.pick(items)], policy: "old" };
    if (choice < 0.54) {
      const dead = model.items.filter(({ state }) => state === "dead").map(({ id }) => id as ItemId);
      const item = random.pick(dead.length > 0 && random.chance(0.8) ? dead : items);
      return { kind: random.chance(0.7) ? "retryDead" : "dropDead", item };
    }
    if (choice < 0.66) return this.#outbox(holder);
    return held === undefined ? this.#accept(claim) : this.#runOperation(held, claim);
  }

  /** What a person does, or the time. */
  #decide(): Operation {
    const random = this.#random;
    const all = [...this.#model.approvals.values()];
    const open = all.filter(({ state }) => state === "open").slice(-3);
    const known = (open.length > 0 && random.chance(0.8) ? open : all).map(({ id }) => id as ApprovalId);
    if (random.chance(0.2)) return { kind: "expire" };
    return {
      kind: "answer",
      approval: random.pick(known.length > 0 ? known : ["none" as ApprovalId]),
      answer: random.pick(ANSWERS),
    };
  }

  /** Whoever gave work is told of its end, or does not want it any more, or its time is over. */
  #tell(claim: LeaseRequest | undefined): Operation {
    const random = this.#random;
    const { delegations } = this.#model;
    if (random.chance(0.3)) return { kind: "expireDelegations" };
    if (random.chance(0.15)) {
      const callers = delegations.open().map(({ caller }) => caller);
      return { kind: "cancel", session: session(random.pick([...callers, ...LABELS, "unknown"])) };
    }
    const over = delegations.unreported().map(({ id }) => id);
    const any = [...delegations.all.keys(), "none"];
    const id = random.pick(over.length > 0 && random.chance(0.9) ? over : any);
    return this.#report(id as DelegationId, claim);
  }

  #machinery(claim: LeaseRequest | undefined): Operation {
    const choice = this.#random.fraction();
    if (choice < 0.45) return this.#tell(claim);
    return choice < 0.85 ? this.#relay(claim) : this.#member(claim);
  }

  /** What is known of a member of a team changes, with a turn that is asked for, now and then a second time. */
  #member(claim: LeaseRequest | undefined): Operation {
    const random = this.#random;
    const member = random.pick(MEMBERS);
    const state = this.#name();
    if (random.chance(0.4)) return { kind: "keepMember", member, state, isOver: random.chance(0.5) };
    const target = toSession(random.chance(0.8) ? `member-${member}` : random.pick(LABELS));
    const send = { ...this.#sending("direct"), target };
    const name = `turn-${member}-${random.below(5)}`;
    return { kind: "orderTurn", member, state, name, send, ids: this.#name(), claim };
  }

  /** A relay begins, or goes on from what was read of it, which now and then is not what it is any more. */
  #relay(claim: LeaseRequest | undefined): Operation {
    const random = this.#random;
    const relay = random.pick(RELAYS);
    const known = this.#model.relays.all.get(relay);
    if (known === undefined ? random.chance(0.9) : random.chance(0.1)) return { kind: "createRelay", relay };
    const { version = 1, steps = [] } = known ?? {};
    const place = steps.length;
    const target = toSession(random.chance(0.8) ? `${relay}-${place}` : random.pick(LABELS));
    const send = { ...this.#sending("direct"), target };
    const step = { place, name: this.#name(), send, ids: this.#name(), claim };
    return {
      kind: "saveRelay",
      relay,
      version: random.chance(0.1) ? version - 1 : version,
      state: random.chance(0.1) ? "completed" : "running",
      due: random.chance(0.2),
      step: random.chance(0.8) ? step : undefined,
    };
  }

  /** A message of the worker's to whoever gave it the work. */
  #report(id: DelegationId, claim: LeaseRequest | undefined): Operation {
    const random = this.#random;
    const { caller = "unknown", session: worker = "unknown" } = this.#model.delegations.all.get(id) ?? {};
    const from = session(random.chance(0.05) ? "unknown" : worker);
    const send = { ...this.#sending("direct"), target: toSession(caller), from };
    const message = { name: `report-${id}`, send, ids: this.#name(), claim };
    return { kind: "report", delegation: id, message: random.chance(0.8) ? message : undefined };
  }

  /**
   * A turn gives work to one or two others, and waits for it. Some of it is over before the turn has come to waiting;
   * some is taken in by a turn that is under way; some is not wanted any more as soon as it is given.
   */
  #handingOut(): Operation[] {
    const random = this.#random;
    const live = this.#claims.filter(({ lease, run }) => this.#model.holds(lease, run));
    if (live.length === 0) return [{ kind: "lease", request: random.pick(HOLDERS), max: 2 }];
    const held = random.pick(live);
    const { lease, run, turn } = held;
    const first = this.#model.drafts.get(turn)!.calls.size;
    const scene: Operation[] = [];
    for (let ordinal = first; ordinal <= first + random.below(2); ordinal++) {
      scene.push({ kind: "journal", lease, run, entries: [toolCall(ordinal)] });
      const given = this.#delegate(held, random.chance(0.7) ? random.pick(HOLDERS) : undefined, ordinal);
      const item = `item-${given.ids}` as ItemId;
      const { delegation, target } = given.send!;
      scene.push(given);
      const other = live.find(
        (claim) => target.kind === "session" && claim.lease.session === target.session && claim.run !== run,
      );
      if (other !== undefined && random.chance(0.5)) scene.push(this.#steer(other, item));
      else if (random.chance(0.2)) scene.push({ kind: "drop", items: [item], policy: "old" });
      if (random.chance(0.3)) scene.push({ kind: "report", delegation: delegation!.id, message: undefined });
    }
    if (random.chance(0.8)) scene.push({ kind: "suspend", lease, run, wait: "first", requests: [] });
    const ends: Operation[] = [
      { kind: "cancel", session: lease.session },
      { kind: "expireDelegations" },
      { kind: "requestAbort", run },
    ];
    return random.chance(0.4) ? [...scene, random.pick(ends)] : scene;
  }

  /** A message that waits becomes part of a turn that is under way. */
  #steer({ lease, run, turn }: Claim, item: ItemId): Operation {
    const place = this.#model.drafts.get(turn)!.messages.size;
    const name = `${turn}-${place}`;
    const entry = { kind: "message", place, message: message(name, "user", name), items: [item] } as const;
    return { kind: "journal", lease, run, entries: [entry] };
  }

  /** A turn gives work to another session, which it may open; now and then it names what is not its own. */
  #delegate(
    { lease, turn }: Claim,
    claim: LeaseRequest | undefined,
    ordinal = this.#model.drafts.get(turn)!.calls.size,
  ): Extract<Operation, { kind: "accept" }> {
    const random = this.#random;
    const name = this.#name();
    const parent = random.chance(0.05) ? session("unknown") : lease.session;
    const opened = { ...toSession(random.pick(WORKERS)), worker: this.#worker(parent, turn) };
    const given = [...this.#model.delegations.all.keys()];
    const id = given.length > 0 && random.chance(0.03) ? random.pick(given) : `d-${name}`;
    const delegation = {
      id: id as DelegationId,
      turn: random.chance(0.03) ? ("none" as TurnId) : turn,
      ordinal,
      waits: random.chance(0.6),
      ...(random.chance(0.5)
        ? { deadlineMs: this.#model.nowMs + random.pick([0, 500, 9_000, 100_000]) }
        : {}),
    };
    const send: Send = {
      ...this.#sending("direct"),
      target: random.chance(0.7) ? opened : toSession(random.pick(LABELS)),
      from: random.chance(0.03) ? session("unknown") : lease.session,
      delegation,
    };
    return { kind: "accept", name, content: `message ${name}`, send, ids: this.#name(), claim, judge: false };
  }

  #worker(parent: SessionKey, parentTurn: TurnId): NewWorker {
    return { parent, parentTurn, parentCall: "call-0", worker: { type: "explore" } };
  }

  /** Somebody writes, breaks, repairs or removes hooks, or says which of them are wanted. */
  #hooksChange(): Operation {
    const random = this.#random;
    if (random.chance(0.4)) {
      const hook = random.pick([...HOOKS, "unknown"]);
      return { kind: "setHookEnabled", hook, enabled: random.chance(0.8) };
    }
    return {
      kind: "syncHooks",
      found: HOOKS.filter(() => random.chance(0.9)).map((name) => this.#hookFile(name)),
    };
  }

  #hookFile(name: string): HookFile {
    const random = this.#random;
    return {
      name,
      mode: name === "second" ? "one-shot" : "persistent",
      digest: random.chance(0.8) ? "1" : "2",
      origin: random.chance(0.1) ? "agent" : "person",
      startsDisabled: random.chance(0.1),
      ...(random.chance(0.1) ? { error: "broken" } : {}),
    };
  }

  /** A hook has judged an event, one that waits for it or now and then any other, or all of them have. */
  #judge(claim: LeaseRequest | undefined): Operation {
    const random = this.#random;
    const { events, hooks } = this.#model;
    const waiting = [...hooks.unjudged].slice(0, 3);
    const any = [...events.keys(), "never-seen"];
    const name = random.pick(waiting.length > 0 && random.chance(0.8) ? waiting : any);
    const hook = random.chance(0.05) ? "unknown" : random.pick(HOOKS);
    if (random.chance(0.15)) return { kind: "judged", name, silent: random.chance(0.5) ? [hook] : [] };
    const error = random.chance(hook === "third" ? 0.9 : 0.2) ? "failed" : undefined;
    const send = error === undefined && random.chance(0.7) ? this.#sending(hook) : undefined;
    const disable = random.chance(0.05);
    return { kind: "recordHookRun", name, hook, error, disable, send, ids: this.#name(), claim };
  }

  /** The third hook fails at one event after another, until its circuit opens. */
  #failures(): Operation[] {
    return [...this.#model.events.keys()].slice(-10).map((name) => ({
      kind: "recordHookRun",
      name,
      hook: "third",
      error: "failed",
      disable: false,
      send: undefined,
      ids: this.#name(),
      claim: undefined,
    }));
  }

  /** Each turn has three things to ask; now and then it names what is another's. */
  #requests(turn: TurnId): NewApproval[] {
    const random = this.#random;
    if (random.chance(0.3)) return [];
    const theirs = random.chance(0.05) ? [...this.#model.approvals.values()] : [];
    const ids = [0, 1, 2].filter(() => random.chance(0.5)).map((place) => `${turn}-${place}`);
    const named = theirs.length > 0 ? [...ids, random.pick(theirs).id] : ids;
    return named.map((id) => ({
      id: id as ApprovalId,
      kind: id.endsWith("2") ? "question" : "approval",
      callHash: `hash of ${id}`,
      request: { id },
      expiresAtMs: id.endsWith("2") ? undefined : this.#model.nowMs + random.pick([500, 9_000, 100_000]),
    }));
  }

  #configure(): Operation {
    const random = this.#random;
    return {
      kind: "configure",
      session: session(random.pick([...LABELS, "configured-only", "unknown"])),
      settings: random.pick(SETTINGS),
      tooLarge: random.chance(0.1),
      createFor: random.chance(0.6) ? random.pick(["main" as AgentId, "ops" as AgentId]) : undefined,
    };
  }

  #accept(claim: LeaseRequest | undefined): Operation {
    const random = this.#random;
    const known = [...this.#model.events.keys()];
    const again = known.length > 0 && random.chance(0.25);
    const name = again ? random.pick(known) : this.#name();
    const content = random.chance(0.1) ? "edited" : `message ${name}`;
    const send = random.chance(0.9) ? this.#sending("direct") : undefined;
    return { kind: "accept", name, content, send, ids: this.#name(), claim, judge: random.chance(0.5) };
  }

  #sending(hook: string): Send {
    const random = this.#random;
    const mode = random.pick<QueueMode>(["followup", "followup", "collect", "interrupt"]);
    const later = random.chance(mode === "collect" ? 0.8 : 0.15);
    const dueMs = this.#model.nowMs + (later ? random.pick([100, 1_000, 5_000]) : 0);
    const drop = random.pick(["old", "new", "summarize"] as const);
    return {
      hook,
      target: this.#target(),
      mode,
      dueMs,
      ...(random.chance(0.6) ? { cap: { max: 1 + random.below(3), drop } } : {}),
      ...(random.chance(0.3) ? { drains: "drop" as const } : {}),
      ...(random.chance(0.2) ? { gatherMs: random.pick([50, 500]) } : {}),
      ...(hook !== "direct" && random.chance(0.5) ? { late: "late" } : {}),
      ...(random.chance(0.05) ? { from: session(random.pick([...LABELS, "unknown"])) } : {}),
    };
  }

  #target(): ReturnType<typeof toSession> {
    const random = this.#random;
    const turns = [...this.#model.turns.keys()] as TurnId[];
    if (turns.length > 0 && random.chance(0.15)) {
      const turn = random.chance(0.1) ? ("none" as TurnId) : random.pick(turns);
      return { kind: "turn", turn, forkAs: session(`fork-${this.#name()}`) };
    }
    return toSession(random.pick(LABELS));
  }

  #runOperation(held: Claim, claimNext: LeaseRequest | undefined): Operation {
    const random = this.#random;
    const { lease, run, turn } = held;
    const parent = (this.#model.runs.get(run)?.parent ?? held.parent) as TurnId | undefined;
    const asked = [...this.#model.approvals.values()].filter((approval) => approval.turn === turn);
    if (asked.length > 0 && random.chance(0.5)) return this.#askedOperation(held, asked);
    const choice = random.fraction();
    if (choice < 0.15) return this.#delegate(held, claimNext);
    if (choice < 0.45) {
      const status = random.chance(0.15) ? "aborted" : "completed";
      const place = random.pick(["a", "b"]);
      const deliveries = random.chance(0.5) ? [delivery(this.#name(), place)] : [];
      return { kind: "commit", lease, run, turn, parent, status, deliveries, claimNext };
    }
    if (choice < 0.65) return { kind: "journal", lease, run, entries: this.#entries(held) };
    if (choice < 0.66) {
      const name = random.pick(["early", this.#name()]);
      return { kind: "addDelivery", lease, run, delivery: { ...delivery(name, "a"), content: name } };
    }
    if (choice < 0.75) {
      const wait = random.pick(["first", "second"]);
      return { kind: "suspend", lease, run, wait, requests: this.#requests(turn) };
    }
    if (choice < 0.79) {
      const wait = random.pick(["first", "second"]);
      return { kind: "resume", run, wait, entries: random.chance(0.5) ? [] : this.#entries(held) };
    }
    if (choice < 0.82) return { kind: "requestAbort", run: random.chance(0.1) ? ("none" as RunId) : run };
    if (choice < 0.85) return { kind: "release", leases: [lease] };
    if (choice < 0.87) return { kind: "beginCompaction", lease, run };
    if (choice < 0.9) {
      const context =
        parent === undefined || !this.#model.turns.has(parent) ? [] : this.#model.context(parent);
      const firstKept =
        context.length > 0 && random.chance(0.7) ? (random.pick(context) as TurnId) : undefined;
      return { kind: "compact", lease, run, turn: `compaction-${this.#name()}` as TurnId, firstKept };
    }
    const retryAtMs = random.chance(0.6) ? this.#model.nowMs + random.pick([0, 2_000]) : undefined;
    return { kind: "fail", lease, run, retryAtMs, claimNext };
  }

  /** What a run does that has asked before: it looks what came of it, waits again, or is cut off. */
  #askedOperation({ lease, run, turn }: Claim, asked: readonly ModelApproval[]): Operation {
    const random = this.#random;
    const choice = random.fraction();
    const approved = asked.filter(({ state }) => state === "approved");
    const wanted = approved.length > 0 && random.chance(0.7) ? approved : asked;
    if (choice < 0.4) return { kind: "use", lease, run, approval: random.pick(wanted).id as ApprovalId };
    if (choice < 0.8) {
      const wait = random.pick(["first", "second"]);
      return { kind: "suspend", lease, run, wait, requests: this.#requests(turn) };
    }
    const retryAtMs = random.chance(0.6) ? this.#model.nowMs + random.pick([0, 2_000]) : undefined;
    return { kind: "fail", lease, run, retryAtMs, claimNext: undefined };
  }

  /** The next message of a run, often with a waiting item steered in, and a call or its result. */
  #entries({ turn, lease }: Claim): JournalEntry[] {
    const random = this.#random;
    const draft = this.#model.drafts.get(turn)!;
    const place = random.pick([
      ...Array.from({ length: 9 }, () => draft.messages.size),
      0,
      draft.messages.size + 2,
    ]);
    const waiting = this.#model.items.filter(
      (item) => item.session === lease.session && (item.state === "queued" || isUnseen(item)),
    );
    const named = random.chance(0.1) ? this.#model.items : waiting;
    const items = named.length > 0 && random.chance(0.5) ? [random.pick(named).id as ItemId] : [];
    const name = `${turn}-${place}`;
    const entries: JournalEntry[] = [{ kind: "message", place, message: message(name, "user", name), items }];
    const ordinal = draft.calls.size;
    if (random.chance(0.5)) {
      entries.push(toolCall(ordinal));
    }
    if (ordinal > 0 && random.chance(0.6)) {
      const last = ordinal - 1;
      entries.push({
        kind: "result",
        ordinal: last,
        status: "ok",
        result: `result ${last}`,
        completedAtMs: 2,
      });
    }
    return entries;
  }

  #outbox(holder: LeaseRequest): Operation {
    const random = this.#random;
    const claim = this.#sends.length === 0 ? undefined : random.pick(this.#sends.slice(-4));
    if (claim === undefined || random.chance(0.3)) {
      return { kind: "claimDeliveries", request: holder, max: 1 + random.below(3) };
    }
    const dead = this.#sends.find(({ delivery: id }) => this.#model.deliveries.get(id)!.state === "dead");
    if (dead !== undefined && random.chance(0.1)) return { kind: "dropDelivery", delivery: dead.delivery };
    return this.#sendStep(claim) ?? { kind: "retryDelivery", delivery: claim.delivery };
  }

  /** What a careful sender does next with a delivery that it has claimed. */
  #sendStep({ delivery: id, epoch }: DeliveryClaim): Operation | undefined {
    const random = this.#random;
    const fence = { delivery: id, epoch };
    const known = this.#model.deliveries.get(id)!;
    if (known.chunks.length === 0) return { kind: "plan", fence, chunks: ["one", "two"] };
    const chunk = known.chunks.findIndex(({ state }) => state !== "sent");
    if (chunk === -1) return undefined;
    const received = this.#hasReceived(id, chunk);
    const { state } = known.chunks[chunk]!;
    if (received)
      return { kind: "settle", fence, chunk, outcome: { kind: "sent", platformId: `p-${id}-${chunk}` } };
    if (state === "pending" || state === "unknown") return { kind: "sending", fence, chunk };
    const retryAtMs = this.#model.nowMs + 1_000;
    const failure = random.chance(0.8)
      ? { kind: random.pick(["retry", "unknown"] as const), error: "cut", retryAtMs }
      : { kind: "dead" as const, error: "blocked" };
    return { kind: "settle", fence, chunk, outcome: failure };
  }

  /** Lets everything come to rest: all runs end, all deliveries leave or die. */
  async #drain(): Promise<void> {
    await this.#judgeAll();
    const patient: LeaseRequest = { holder: "drain", ttlMs: 1_000_000 };
    for (const run of this.#model.runs.values()) {
      if (run.state !== "suspended") continue;
      await this.#send([{ kind: "resume", run: run.id as RunId, wait: run.wait!, entries: [] }], "lives");
    }
    for (let round = 0; round < 1_000; round++) {
      this.#advance(100_000);
      const over = this.#model.delegations.unreported();
      for (const { id } of over) await this.#send([this.#report(id as DelegationId, undefined)], "lives");
      const before = this.#claims.length;
      await this.#send([{ kind: "lease", request: patient, max: 10 }], "lives");
      const claims = this.#claims.slice(before);
      for (const { lease, run, turn, parent } of claims) {
        const status = "completed";
        const rest = { lease, run, turn, parent, status, deliveries: [], claimNext: undefined } as const;
        await this.#send([{ kind: "commit", ...rest }], "lives");
      }
      const sends = this.#sends.length;
      await this.#send([{ kind: "claimDeliveries", request: patient, max: 10 }], "lives");
      for (const claim of this.#sends.slice(sends)) {
        while (this.#model.deliveries.get(claim.delivery)!.state === "sending") {
          await this.#send([this.#sendStep(claim)!], "lives");
        }
      }
      if (claims.length === 0 && over.length === 0 && this.#sends.length === sends) return;
    }
    throw new Error("the work does not come to rest");
  }

  /** What a judge does after a crash: it asks the hooks about every event that waits, but none of them twice. */
  async #judgeAll(): Promise<void> {
    await this.#send([{ kind: "syncHooks", found: [] }], "lives");
    for (const { event, asked } of await this.#store!.hooks.unjudged()) {
      const name = event.id.slice("test:".length);
      const silent = [...this.#model.hooks.hooks.keys()].filter((hook) => !asked.includes(hook));
      for (const hook of asked) ok(this.#model.hooks.runs.has(`${name}/${hook}`), `${hook} was asked`);
      for (const hook of silent) ok(!this.#model.hooks.runs.has(`${name}/${hook}`), `${hook} was not asked`);
      await this.#send([{ kind: "judged", name, silent }], "lives");
    }
    deepStrictEqual(await this.#store!.hooks.unjudged(), []);
  }

  /** What the store says of its queues, against the model. */
  async #checkReads(): Promise<void> {
    const { queue, approvals, hooks, delegations } = this.#store!;
    deepStrictEqual(
      (await delegations.unreported()).map(({ id }) => id),
      this.#model.delegations.unreported().map(({ id }) => id),
    );
    strictEqual(await delegations.nextDeadlineMs(), this.#model.delegations.nextDeadlineMs());
    deepStrictEqual(
      (await hooks.unjudged()).map(({ event }) => event.id),
      [...this.#model.hooks.unjudged].map((name) => `test:${name}`),
    );
    strictEqual(await queue.nextReadyMs(), this.#model.nextReadyMs());
    strictEqual(await approvals.nextExpiryMs(), this.#model.nextExpiryMs());
    for (const label of this.#model.sessions.keys()) {
      const unseen = await queue.unseenDrops(session(label));
      deepStrictEqual(
        unseen.map(({ id }) => id),
        this.#model.unseenDrops(label),
      );
    }
  }

  /** The whole state, read past the store, against the model. */
  #compareAll(): void {
    const model = this.#model;
    const rows = (sql: string): unknown[] => this.#raw!.all(sql);
    const sorted = <T>(list: readonly T[]): T[] =>
      list
        .map((value) => ({ value, text: JSON.stringify(value) }))
        .toSorted((a, b) => (a.text < b.text ? -1 : 1))
        .map(({ value }) => value);

    deepStrictEqual(
      sorted(rows("select id, status, policy, due_at, turn_id from queue_items")),
      sorted(
        model.items.map(({ id, state, policy, dueMs, turn }) => ({
          id,
          status: state,
          policy: policy ?? null,
          due_at: dueMs.value,
          turn_id: turn ?? null,
        })),
      ),
    );
    deepStrictEqual(
      rows("select rowid as seq from search order by rowid"),
      this.#raw!.all(
        `select e.seq from event e left join message m on m.key = e.message
         where e.seq <= ? and coalesce(e.content, m.content) glob '*[a-zA-Z0-9]*' order by e.seq`,
        model.indexed,
      ),
    );
    deepStrictEqual(
      sorted(rows("select id, thread_id as head, parent_session_id as parent from agent_sessions")),
      sorted(
        [...model.sessions.values()].map(({ label, head, parent }) => ({
          id: label,
          head: head ?? null,
          parent: parent ?? null,
        })),
      ),
    );
    deepStrictEqual(
      sorted(rows("select label, agent, epoch, holder, ready_ms from session")),
      sorted(
        [...model.sessions.values()].map(({ label, agent, epoch, holder, readyMs }) => ({
          label,
          agent,
          epoch,
          holder: holder ?? null,
          ready_ms: readyMs ?? null,
        })),
      ),
    );
    const settings = rows("select label, settings from session") as {
      label: string;
      settings: string | null;
    }[];
    deepStrictEqual(
      new Map(
        settings.map(({ label, settings: json }) => [label, json === null ? undefined : JSON.parse(json)]),
      ),
      new Map([...model.sessions].map(([label, kept]) => [label, kept.settings])),
    );
    deepStrictEqual(
      sorted(
        rows(
          "select id, parent_turn_id as parent, turn_type as type, source_event_id as event from agent_turns",
        ),
      ),
      sorted(
        [...model.turns.values()].map(({ id, parent, type, event }) => ({
          id,
          parent: parent ?? null,
          type,
          event: event ?? null,
        })),
      ),
    );
    const forgotten = new Set(
      rows(
        `select r.id from run r left join turn t on t.id = r.turn_id left join event e on e.seq = r.source
       where r.abort = '(pruned)' and coalesce(t.pruned_ms, e.pruned_ms) is not null`,
      ).map((run) => (run as { id: string }).id),
    );
    deepStrictEqual(
      sorted(
        rows(
          `select id, turn_id as turn, status as state, attempt, interruptions, abort,
             (select i.id from item i join run r on r.abort_item = i.key where r.id = runs.id) as abortedBy,
             (select compacting_ms is not null from run r where r.id = runs.id) as compacting
           from runs where id not in (select r.id from run r join turn t on t.key = r.key where t.type = 'compaction')`,
        ),
      ),
      sorted(
        [...model.runs.values()].map(
          ({ id, turn, state, attempt, interruptions, abort, abortedBy = null, compacting }) => ({
            id,
            turn,
            state,
            attempt,
            interruptions,
            abort: forgotten.has(id) && abort !== undefined ? "(pruned)" : (abort ?? null),
            abortedBy,
            compacting: Number(compacting),
          }),
        ),
      ),
    );
    deepStrictEqual(
      sorted(rows("select id, state, version, due_ms is not null as due from relay")),
      sorted(
        [...model.relays.all.values()].map(({ id, state, version, isDue }) => ({
          id,
          state,
          version,
          due: Number(isDue),
        })),
      ),
    );
    deepStrictEqual(
      sorted(
        rows(
          `select r.id as relay, p.step, p.state, i.id as item
           from relay_step p join relay r on r.key = p.relay join item i on i.key = p.item`,
        ),
      ),
      sorted(
        [...model.relays.all.values()].flatMap(({ id, steps }) =>
          steps.map(({ item, isEnded }, step) => ({
            relay: id,
            step,
            state: isEnded ? "ended" : "running",
            item: item.id,
          })),
        ),
      ),
    );
    deepStrictEqual(
      sorted(rows("select member, state_json as state, item_id as item from team_members")),
      sorted(
        Array.from(model.team.members, ([member, { state, item }]) => ({
          member,
          state: JSON.stringify(state),
          item: item?.id ?? null,
        })),
      ),
    );
    deepStrictEqual(
      sorted(rows("select id, status as state from deliveries")),
      sorted([...model.deliveries.values()].map(({ id, state }) => ({ id, state }))),
    );
    deepStrictEqual(
      sorted(rows("select id, turn_id as turn, status as state from approvals")),
      sorted([...model.approvals.values()].map(({ id, turn, state }) => ({ id, turn, state }))),
    );
    deepStrictEqual(
      sorted(
        rows(
          `select id, caller_session_label as caller, caller_turn_id as turn, session_label as session, item_id as item,
                  status as state, ended_at as ended, reported_at is not null as reported from delegations`,
        ),
      ),
      sorted(
        [...model.delegations.all.values()].map((delegation) => ({
          id: delegation.id,
          caller: delegation.caller,
          turn: delegation.callerTurn,
          session: delegation.session,
          item: delegation.item.id,
          state: delegation.state,
          ended: delegation.endedMs ?? null,
          reported: Number(delegation.reported),
        })),
      ),
    );
    deepStrictEqual(
      sorted(
        rows(
          "select name, state, enabled, failures, opened_ms as openedMs, triggers from hook order by name",
        ),
      ),
      sorted(
        [...model.hooks.hooks.values()].map((hook) => ({
          name: hook.name,
          state: hookState(hook),
          enabled: Number(hook.enabled),
          failures: hook.failures,
          openedMs: hook.openedMs ?? null,
          triggers: hook.triggers,
        })),
      ),
    );
    deepStrictEqual(
      sorted(
        rows(
          `select hook_id as hook, event_id as event, fired, iif(error = '(pruned)' and event_id in
             (select id from events where pruned_at is not null), 'failed', error) as error from hook_runs`,
        ),
      ),
      sorted(
        [...model.hooks.runs.values()].map(({ hook, event, fired, error }) => ({
          hook,
          event: `test:${event}`,
          fired: Number(fired),
          error: error ?? null,
        })),
      ),
    );
    deepStrictEqual(
      sorted(rows("select e.id from unjudged u join event e on e.seq = u.event")),
      sorted([...model.hooks.unjudged].map((name) => ({ id: `test:${name}` }))),
    );
    deepStrictEqual(
      sorted(rows("select id, differing_redeliveries as differing from events where direction = 'received'")),
      sorted([...model.events].map(([name, { differing }]) => ({ id: `test:${name}`, differing }))),
    );
  }

  /** The promises of the data model, stated once more over what is in the database at rest. */
  #checkInvariants(): void {
    const none = (what: string, sql: string): void => deepStrictEqual(this.#raw!.all(sql), [], what);
    none(
      "one run a session",
      "select session from run where state = 'running' group by session having count(*) > 1",
    );
    none("everything ends", "select id from item where state in ('queued', 'claimed')");
    none(
      "a failed run leaves no turn",
      "select t.id from turn t where not exists (select 1 from run r where r.turn = t.key and r.state in ('completed', 'aborted'))",
    );
    none(
      "one turn for (event, session)",
      "select source from turn where source is not null group by source, session having count(*) > 1",
    );
    none(
      "every item that is done has its turn",
      "select i.id from item i left join turn t on t.key = i.turn where i.state in ('done', 'merged') and t.key is null",
    );
    none(
      "an item that was dropped or is dead is no part of a turn, which may have been told of it",
      `select i.id from item i join turn t on t.key = i.turn
       where i.state in ('dropped', 'dead') and i.policy is not 'summarize'`,
    );
    none(
      "no message is swallowed by a turn that it interrupted, or that was interrupted before it came",
      `select i.id from item i join turn t on t.key = i.turn join run r on r.key = t.run
       where i.state in ('done', 'merged') and i.key >= r.abort_item`,
    );
    none("nobody is asked for a turn that is over", "select id from approval where state = 'open'");
    none("a dropped item says by what", "select id from item where state = 'dropped' and policy is null");
    none(
      "every dispatch has its item",
      "select d.id from dispatch d left join item i on i.key = d.item where i.key is null",
    );
    none(
      "a hook has fired as often as it has asked for work",
      `select h.name from hook h where h.triggers <> (select count(*) from dispatch d where d.hook = h.name)
         or h.triggers <> (select count(*) from hook_run r where r.hook = h.key and r.fired)`,
    );
    none("work that was given is over", "select id from delegation where state = 'open'");
    none(
      "whoever gave work is told of its end, unless nobody wants it any more",
      "select id from delegation where (reported_ms is null) <> (state = 'cancelled')",
    );
    none(
      "whoever waits for work is told by no message",
      "select d.id from delegation d join event e on e.id = 'test:report-' || d.id where d.waits",
    );
    none(
      "nobody works for a turn that was aborted",
      `select d.id from delegation d join turn t on t.key = d.caller_turn join item i on i.key = d.item
       where t.status = 'aborted' and d.ended_ms > t.completed_ms`,
    );
    none("all steps of relays have ended", "select step from relay_step where state = 'running'");
    none("every event that was to be judged is judged", "select event from unjudged");
    const siblings = this.#raw!.all(
      "select p.id from turn t join turn p on p.key = t.parent group by t.parent having count(*) > 1",
    ) as { id: string }[];
    for (const { id: parent } of siblings) ok(this.#model.forked.has(parent), `nobody forked ${parent}`);
    this.#checkDeliveries();
  }

  /** In order for each target, and nothing twice. */
  #checkDeliveries(): void {
    const order = [...this.#model.deliveries.keys()];
    for (const target of new Set(this.#received.map((entry) => entry.target))) {
      const arrived = this.#received.filter((entry) => entry.target === target);
      const alive = arrived.filter((entry) => this.#model.deliveries.get(entry.delivery)!.state === "sent");
      const places = alive.map(({ delivery: id, chunk }) => order.indexOf(id) * 10 + chunk);
      const retried =
        this.#model.deliveries.size > 0 && this.#trace.some((line) => line.includes('"retryDelivery"'));
      if (!retried) {
        deepStrictEqual(
          places,
          places.toSorted((a, b) => a - b),
          `order of ${target}`,
        );
      }
      strictEqual(new Set(places).size, places.length, `nothing is sent twice to ${target}`);
    }
  }

  async #checkHashes(): Promise<void> {
    const { verify } = await import("../../src/store/sqlite/verify.ts");
    const [counted] = this.#raw!.all(
      "select count(pruned_ms) as pruned, (select count(*) from audit_entry) as audited from turn",
    ) as { pruned: number; audited: number }[];
    deepStrictEqual(verify(this.#raw!.db), { ok: true, turns: this.#model.turns.size, ...counted });
  }

  /** Whoever has followed the feed from its beginning knows the state of everything. */
  async #checkChanges(): Promise<void> {
    const states = new Map<string, string>();
    for (let seq = 0; ;) {
      const read = await this.#store!.changes.since(seq);
      if (read.seq === seq) break;
      seq = read.seq;
      for (const change of read.changes) {
        if (change.kind === "event") states.set(change.event, "accepted");
        if (change.kind === "dispatch") states.set(change.dispatch, change.outcome);
        if (change.kind === "item") states.set(change.item, change.state);
        if (change.kind === "run") states.set(change.run, change.state);
        if (change.kind === "turn") states.set(`turn ${change.turn}`, change.status);
        if (change.kind === "message") states.set(`${change.turn} message ${change.place}`, change.message);
        if (change.kind === "call") states.set(`${change.turn} call ${change.ordinal}`, change.status);
        if (change.kind === "delivery") states.set(change.delivery, change.state);
        if (change.kind === "approval") states.set(change.approval, change.state);
        if (change.kind === "delegation") states.set(change.delegation, change.state);
        if (change.kind === "relay") states.set(change.relay, change.state);
        if (change.kind === "hook") states.set(`hook ${change.hook}`, change.state);
        if (change.kind === "hook_run") states.set(`${change.hook} on ${change.event}`, change.outcome);
      }
    }
    const turnOf = "(select turn_id from run where key = c.key / 65536)";
    const there = this.#raw!.all(
      `select id, 'accepted' as state from events union all select id, outcome from dispatches
       union all select id, status from queue_items union all select id, status from runs
       union all select 'turn ' || id, status from agent_turns union all select id, status from deliveries
       union all select id, status from approvals union all select id, status from delegations
       union all select id, state from relay union all select 'hook ' || id, status from hooks
       union all select hook_id || ' on ' || event_id, iif(fired, 'fired', 'failed') from hook_runs
                 where fired or error is not null
       union all select ${turnOf} || ' message ' || (c.key % 65536), c.id from message c
       union all select ${turnOf} || ' call ' || (c.key % 65536), c.status from tool_call c`,
    ) as { id: string; state: string }[];
    deepStrictEqual(states, new Map(there.map(({ id, state }) => [id, state])));
  }

  #name(): string {
    return `n${++this.#names}`;
  }
}

function toolCall(ordinal: number): JournalEntry {
  return { kind: "call", ordinal, callId: `call-${ordinal}`, tool: "Tool", params: {}, startedAtMs: 1 };
}

/** The claims that an operation has brought. */
function claimsIn(operation: Operation, value: unknown): Claim[] {
  if (operation.kind === "lease") return value as Claim[];
  let claim: Claim | undefined;
  if (operation.kind === "accept") claim = (value as Accepted).dispatched?.claim;
  if (operation.kind === "dispatch") claim = (value as Dispatched).claim;
  if (operation.kind === "recordHookRun") claim = (value as Recorded).dispatched?.claim;
  if (["report", "saveRelay", "orderTurn"].includes(operation.kind))
    claim = (value as { claim?: Claim }).claim;
  if (operation.kind === "commit" || operation.kind === "fail") claim = (value as { next?: Claim }).next;
  return claim === undefined ? [] : [claim];
}

async function ask(store: SqliteStore, operation: Operation): Promise<Answer> {
  try {
    return { value: await perform(store, operation) };
  } catch (error) {
    if (error instanceof CortexError) return { refused: error.code };
    throw error;
  }
}
