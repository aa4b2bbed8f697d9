/** Plain values for tests of the store: whatever a test does not care about has a sensible default. */
import type {
  AgentId,
  DeliveryId,
  DispatchId,
  EventId,
  ItemId,
  MessageId,
  PersonaId,
  TurnId,
} from "../../src/model/ids.ts";
import type { Message } from "../../src/model/message.ts";
import { guestPrincipal, type Identity, type Principal } from "../../src/model/principal.ts";
import { normalizeSessionKey, type SessionKey } from "../../src/model/session-key.ts";
import type {
  Claim,
  DispatchTarget,
  LeaseRequest,
  NewDelivery,
  NewDispatch,
  NewEvent,
  NewTurn,
  TurnFacts,
} from "../../src/store/store.ts";

export const START_MS = Date.UTC(2026, 0, 1);

/** A clock that stands still until the test moves it. */
export function testClock(): { (): number; advance(ms: number): void } {
  let nowMs = START_MS;
  return Object.assign(() => nowMs, { advance: (ms: number) => void (nowMs += ms) });
}

export const alice: LeaseRequest = { holder: "alice", ttlMs: 30_000 };
export const bob: LeaseRequest = { holder: "bob", ttlMs: 30_000 };

export function session(label: string): SessionKey {
  return normalizeSessionKey(label);
}

export function toSession(label: string): DispatchTarget {
  return {
    kind: "session",
    session: session(label),
    agent: "main" as AgentId,
    persona: "atlas" as PersonaId,
  };
}

export type TestEvent = NewEvent & { readonly principal: Principal };

export function event(name: string, fields: Partial<TestEvent> = {}): TestEvent {
  return {
    id: `test:${name}` as EventId,
    channel: "test",
    direction: "received",
    sender: "tyler",
    place: "dm-1",
    content: `message ${name}`,
    atMs: START_MS,
    principal: guestPrincipal("test:tyler" as Identity),
    ...fields,
  };
}

export function dispatch(
  name: string,
  target: DispatchTarget,
  fields: Partial<NewDispatch> = {},
): NewDispatch {
  return {
    id: `dispatch-${name}` as DispatchId,
    item: `item-${name}` as ItemId,
    hook: "direct",
    target,
    mode: "followup",
    ...fields,
  };
}

export const facts: TurnFacts = {
  role: "manager",
  profile: "offline",
  provider: "offline",
  model: "offline",
  usage: { input: 10, output: 20, cacheRead: 1, cacheWrite: 2, reasoning: 3 },
  costUsd: 0.25,
};

export function message(id: string, role: Message["role"], content: string): Message {
  return { id: id as MessageId, role, content, atMs: START_MS };
}

/** The whole of a turn, for a claim: a question and an answer. */
export function turnFor(claim: Claim, fields: Partial<NewTurn> = {}): NewTurn {
  const { lease, run, turn, parent } = claim;
  return {
    lease,
    run,
    turn,
    parent,
    status: "completed",
    facts,
    messages: [message(`q-${turn}`, "user", `question of ${turn}`), answer(turn)],
    toolCalls: [],
    ...fields,
  };
}

export function answer(turn: TurnId): Message {
  return message(turn, "assistant", `answer of ${turn}`);
}

export function delivery(name: string, place = "dm-1", fields: Partial<NewDelivery> = {}): NewDelivery {
  return { id: `delivery-${name}` as DeliveryId, target: { channel: "test", place }, ...fields };
}
