/** What the simulation asks of a store: calls as data, so that they can be repeated and printed. */
import type {
  AgentId,
  ApprovalId,
  DelegationId,
  DeliveryId,
  EventId,
  ItemId,
  PersonaId,
  RelayId,
  RunId,
  TurnId,
} from "../../src/model/ids.ts";
import type { SessionKey } from "../../src/model/session-key.ts";
import {
  type ApprovalAnswer,
  type ChunkOutcome,
  type DeliveryFence,
  type HookFile,
  type JournalEntry,
  type Lease,
  type LeaseRequest,
  MAX_SETTINGS_BYTES,
  type NewApproval,
  type NewDelivery,
  type NewDispatch,
  type Settings,
  type Store,
} from "../../src/store/store.ts";
import { delivery, dispatch, event, facts, message } from "../support/sample.ts";

/** A dispatch, but for its ids. */
export type Send = Pick<
  NewDispatch,
  "hook" | "target" | "mode" | "gatherMs" | "late" | "cap" | "drains" | "from" | "delegation"
> & {
  readonly dueMs: number;
};

export type Operation =
  | {
      readonly kind: "accept";
      readonly name: string;
      readonly content: string;
      readonly send: Send | undefined;
      /** The ids of dispatch and item: new ones at each redelivery, as a channel would make them. */
      readonly ids: string;
      readonly claim: LeaseRequest | undefined;
      readonly judge: boolean;
    }
  | {
      readonly kind: "report";
      readonly delegation: DelegationId;
      readonly message:
        | {
            readonly name: string;
            readonly send: Send;
            readonly ids: string;
            readonly claim: LeaseRequest | undefined;
          }
        | undefined;
    }
  | { readonly kind: "expireDelegations" }
  | { readonly kind: "createRelay"; readonly relay: RelayId }
  | {
      readonly kind: "saveRelay";
      readonly relay: RelayId;
      readonly version: number;
      readonly state: "running" | "completed";
      readonly due: boolean;
      /** Asks for one more. */
      readonly step:
        | {
            readonly place: number;
            readonly name: string;
            readonly send: Send;
            readonly ids: string;
            readonly claim: LeaseRequest | undefined;
          }
        | undefined;
    }
  | {
      readonly kind: "keepMember";
      readonly member: string;
      readonly state: string;
      readonly isOver: boolean;
    }
  | {
      readonly kind: "orderTurn";
      readonly member: string;
      readonly state: string;
      readonly name: string;
      readonly send: Send;
      readonly ids: string;
      readonly claim: LeaseRequest | undefined;
    }
  | { readonly kind: "cancel"; readonly session: SessionKey }
  | { readonly kind: "syncHooks"; readonly found: readonly HookFile[] }
  | { readonly kind: "setHookEnabled"; readonly hook: string; readonly enabled: boolean }
  | {
      readonly kind: "recordHookRun";
      readonly name: string;
      readonly hook: string;
      readonly error: string | undefined;
      readonly disable: boolean;
      /** It fires. */
      readonly send: Send | undefined;
      readonly ids: string;
      readonly claim: LeaseRequest | undefined;
    }
  | { readonly kind: "judged"; readonly name: string; readonly silent: readonly string[] }
  | { readonly kind: "index"; readonly max: number }
  | {
      readonly kind: "dispatch";
      readonly name: string;
      readonly send: Send;
      readonly ids: string;
      readonly claim: LeaseRequest | undefined;
    }
  | { readonly kind: "lease"; readonly request: LeaseRequest; readonly max: number }
  | { readonly kind: "renew"; readonly request: LeaseRequest; readonly leases: readonly Lease[] }
  | { readonly kind: "release"; readonly leases: readonly Lease[] }
  | { readonly kind: "drop"; readonly items: readonly ItemId[]; readonly policy: string }
  | { readonly kind: "retryDead"; readonly item: ItemId }
  | { readonly kind: "dropDead"; readonly item: ItemId }
  | {
      readonly kind: "beginCompaction";
      readonly lease: Lease;
      readonly run: RunId;
    }
  | {
      readonly kind: "journal";
      readonly lease: Lease;
      readonly run: RunId;
      readonly entries: readonly JournalEntry[];
    }
  | {
      readonly kind: "suspend";
      readonly lease: Lease;
      readonly run: RunId;
      readonly wait: string;
      readonly requests: readonly NewApproval[];
    }
  | { readonly kind: "answer"; readonly approval: ApprovalId; readonly answer: ApprovalAnswer }
  | { readonly kind: "use"; readonly lease: Lease; readonly run: RunId; readonly approval: ApprovalId }
  | { readonly kind: "expire" }
  | {
      readonly kind: "resume";
      readonly run: RunId;
      readonly wait: string;
      readonly entries: readonly JournalEntry[];
    }
  | { readonly kind: "requestAbort"; readonly run: RunId }
  | {
      readonly kind: "fail";
      readonly lease: Lease;
      readonly run: RunId;
      readonly retryAtMs: number | undefined;
      readonly claimNext: LeaseRequest | undefined;
    }
  | {
      readonly kind: "commit";
      readonly lease: Lease;
      readonly run: RunId;
      readonly turn: TurnId;
      readonly parent: TurnId | undefined;
      readonly status: "completed" | "aborted";
      readonly deliveries: readonly NewDelivery[];
      readonly claimNext: LeaseRequest | undefined;
    }
  | {
      readonly kind: "compact";
      readonly lease: Lease;
      readonly run: RunId;
      readonly turn: TurnId;
      readonly firstKept: TurnId | undefined;
    }
  | { readonly kind: "fork"; readonly turn: TurnId; readonly label: SessionKey }
  | { readonly kind: "reset"; readonly session: SessionKey }
  | {
      readonly kind: "configure";
      readonly session: SessionKey;
      readonly settings: Settings;
      /** With one more setting, for which there is no room. */
      readonly tooLarge: boolean;
      /** The agent that a session belongs to which does not exist yet. */
      readonly createFor: AgentId | undefined;
    }
  | {
      readonly kind: "addDelivery";
      readonly lease: Lease;
      readonly run: RunId;
      readonly delivery: NewDelivery & { readonly content: string };
    }
  | { readonly kind: "claimDeliveries"; readonly request: LeaseRequest; readonly max: number }
  | { readonly kind: "plan"; readonly fence: DeliveryFence; readonly chunks: readonly string[] }
  | { readonly kind: "sending"; readonly fence: DeliveryFence; readonly chunk: number }
  | {
      readonly kind: "settle";
      readonly fence: DeliveryFence;
      readonly chunk: number;
      readonly outcome: ChunkOutcome;
    }
  | { readonly kind: "retryDelivery"; readonly delivery: DeliveryId }
  | { readonly kind: "dropDelivery"; readonly delivery: DeliveryId };

const TEAM = "/team";
const JUDGED = { startedAtMs: 1, endedAtMs: 2 };

export async function perform(store: Store, operation: Operation): Promise<unknown> {
  switch (operation.kind) {
    case "accept": {
      const { name, content, send, ids, claim, judge } = operation;
      const work = send === undefined ? {} : { dispatch: { ...dispatch(ids, send.target), ...send } };
      return store.events.accept(event(name, { content }), {
        ...work,
        ...(claim === undefined ? {} : { claim }),
        judge,
      });
    }
    case "report": {
      const { delegation, message: told } = operation;
      if (told === undefined) return store.delegations.report(delegation);
      return store.delegations.report(delegation, {
        event: event(told.name),
        dispatch: { ...dispatch(told.ids, told.send.target), ...told.send },
        ...(told.claim === undefined ? {} : { claim: told.claim }),
      });
    }
    case "expireDelegations":
      return store.delegations.expire();
    case "createRelay":
      return store.relays.create({ id: operation.relay, template: null, state: "running", record: {} });
    case "saveRelay": {
      const { relay, version, state, due, step } = operation;
      if (step === undefined) return store.relays.save(relay, version, { state, record: {}, due });
      const { place, name, send, ids, claim } = step;
      const asked = {
        event: event(name),
        dispatch: { ...dispatch(ids, send.target), ...send },
        worker: {},
        trust: [],
      };
      return store.relays.save(relay, version, {
        state,
        record: {},
        due,
        steps: [{ step: place, slot: "slot", record: {}, isEnded: false, accept: asked }],
        ...(claim === undefined ? {} : { claim }),
      });
    }
    case "keepMember": {
      const { member, state, isOver } = operation;
      return store.team.keep({ team: TEAM, member, state, isOver });
    }
    case "orderTurn": {
      const { member, state, name, send, ids, claim } = operation;
      return store.team.order({
        team: TEAM,
        member,
        state,
        event: event(name),
        dispatch: { ...dispatch(ids, send.target), ...send },
        worker: { member },
        ...(claim === undefined ? {} : { claim }),
      });
    }
    case "cancel":
      return store.delegations.cancel(operation.session, "asked");
    case "syncHooks":
      return store.hooks.sync(operation.found);
    case "setHookEnabled":
      return store.hooks.setEnabled(operation.hook, operation.enabled);
    case "recordHookRun": {
      const { name, hook, error, disable, send, ids, claim } = operation;
      return store.hooks.record({
        event: `test:${name}` as EventId,
        hook,
        disable,
        fired: send !== undefined,
        ...(error === undefined ? {} : { error }),
        ...(send === undefined ? {} : { dispatch: { ...dispatch(ids, send.target), ...send } }),
        ...(claim === undefined ? {} : { claim }),
        ...JUDGED,
      });
    }
    case "judged": {
      const { name, silent } = operation;
      return store.hooks.judged(
        `test:${name}` as EventId,
        silent.map((hook) => Object.assign({ hook }, JUDGED)),
      );
    }
    case "index":
      return store.events.index(operation.max);
    case "dispatch": {
      const { name, send, ids, claim } = operation;
      const options = claim === undefined ? {} : { claim };
      const work = { ...dispatch(ids, send.target), ...send };
      return store.events.dispatch(`test:${name}` as EventId, work, options);
    }
    case "lease":
      return store.queue.lease(operation.request, operation.max);
    case "renew":
      return store.queue.renew(operation.request, operation.leases);
    case "release":
      return store.queue.release(operation.leases);
    case "drop":
      return store.queue.drop(operation.items, operation.policy);
    case "retryDead":
      return store.queue.retryDead(operation.item);
    case "dropDead":
      return store.queue.dropDead(operation.item);
    case "beginCompaction":
      return store.turns.beginCompaction(operation.lease, operation.run);
    case "journal":
      return store.runs.journal(operation.lease, operation.run, operation.entries);
    case "suspend":
      return store.runs.suspend(
        operation.lease,
        operation.run,
        { id: operation.wait, kind: "other", detail: null },
        operation.requests,
      );
    case "answer":
      return store.approvals.answer(operation.approval, operation.answer);
    case "use":
      return store.approvals.use(operation.lease, operation.run, operation.approval);
    case "expire":
      return store.approvals.expire();
    case "resume":
      return store.runs.resume(operation.run, operation.wait, operation.entries);
    case "requestAbort":
      return store.runs.requestAbort(operation.run, "asked");
    case "fail": {
      const { lease, run, retryAtMs, claimNext } = operation;
      const outcome =
        retryAtMs === undefined ? { kind: "dead" as const } : { kind: "retry" as const, atMs: retryAtMs };
      return store.runs.fail({
        lease,
        run,
        error: "failed",
        outcome,
        ...(claimNext === undefined ? {} : { claimNext }),
      });
    }
    case "commit": {
      const { lease, run, turn, parent, status, deliveries, claimNext } = operation;
      const messages = [message(turn, "assistant", `answer of ${turn}`)];
      const answer = { id: `cortex:${turn}` as EventId, channel: "test", atMs: 0 };
      const next = claimNext === undefined ? {} : { claimNext };
      return store.turns.commit({
        lease,
        run,
        turn,
        parent,
        status,
        facts,
        messages,
        toolCalls: [],
        answer,
        deliveries,
        ...next,
      });
    }
    case "compact": {
      const { lease, run, turn, firstKept } = operation;
      const summary = message(turn, "assistant", `summary ${turn}`);
      return store.turns.compact({ lease, run, turn, facts, summary, firstKept });
    }
    case "fork":
      return store.sessions.fork(operation.turn, operation.label);
    case "reset":
      return store.sessions.reset(operation.session);
    case "configure": {
      const { session, settings, tooLarge, createFor } = operation;
      const all = tooLarge ? { ...settings, large: "l".repeat(MAX_SETTINGS_BYTES) } : settings;
      const create =
        createFor === undefined ? undefined : { agent: createFor, persona: "atlas" as PersonaId };
      return store.sessions.configure(session, all, create === undefined ? {} : { create });
    }
    case "addDelivery":
      return store.outbox.add(operation.lease, operation.run, operation.delivery);
    case "claimDeliveries":
      return store.outbox.claim(operation.request, operation.max);
    case "plan":
      return store.outbox.plan(operation.fence, operation.chunks);
    case "sending":
      return store.outbox.sending(operation.fence, operation.chunk);
    case "settle":
      return store.outbox.settle(operation.fence, operation.chunk, operation.outcome);
    case "retryDelivery":
      return store.outbox.retry(operation.delivery);
    case "dropDelivery":
      return store.outbox.dropDead(operation.delivery);
  }
}

export { delivery };
