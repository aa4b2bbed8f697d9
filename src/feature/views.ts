/**
 * The JSON forms of what the store keeps, for HTTP and for `--json`. Times are ISO strings in UTC, absent values are
 * null, and fields with ids end in `Id` unless they are called `id`.
 */
import type { AgentConfig, Config, PersonaConfig } from "../config/config.ts";
import { placeKindOf } from "../model/event.ts";
import { labelNames } from "../model/label-names.ts";
import { describeOrigin } from "../model/label-origin.ts";
import { endedAtLimit, type Message, type ToolCall } from "../model/message.ts";
import type { Profile } from "../model/profile.ts";
import { answerText } from "../model/reply-tool.ts";
import { type Label, marksOf, readTrust } from "../model/trust.ts";
import { readWorker } from "../model/worker.ts";
import type {
  KeptOrigin,
  DeadLetter,
  DeliveryTarget,
  EventDispatch,
  QueueItem,
  SearchHit,
  StoredDelivery,
  StoredEvent,
  StoredRun,
  StoredSession,
  TurnContent,
} from "../store/store.ts";

export type EventView = ReturnType<typeof eventView>;
export type SessionView = ReturnType<typeof sessionView>;
export type TurnView = ReturnType<typeof turnView>;

export function eventView(event: StoredEvent) {
  return {
    id: event.id,
    channel: event.channel,
    direction: event.direction,
    sender: event.sender ?? null,
    account: event.account ?? null,
    place: event.place ?? null,
    topic: event.topic ?? null,
    placeKind: placeKindOf(event) ?? null,
    mentionsMe: event.mentionsMe ?? null,
    replyTo: event.replyTo ?? null,
    messageId: event.messageId ?? null,
    about: event.about ?? null,
    content: event.content,
    contentType: event.contentType ?? null,
    attachments: event.attachments ?? null,
    payload: event.payload ?? null,
    metadata: event.metadata ?? null,
    timestamp: isoTime(event.atMs),
    receivedAt: isoTime(event.receivedAtMs),
    differing: event.differing,
    cause: event.cause ?? null,
    depth: event.depth,
    principal: event.principal,
    token: event.token ?? null,
    prunedAt: event.prunedAtMs === undefined ? null : isoTime(event.prunedAtMs),
  };
}

export type HitView = ReturnType<typeof hitView>;

/** Search results, and the number of events that could not be searched yet. */
export function foundView(hits: readonly SearchHit[], unsearched: number) {
  return { items: hits.map(hitView), next: null, unsearched };
}

function hitView(hit: SearchHit) {
  return {
    eventId: hit.event,
    turnId: hit.turn ?? null,
    channel: hit.channel,
    direction: hit.direction,
    sender: hit.sender ?? null,
    place: hit.place ?? null,
    timestamp: isoTime(hit.atMs),
    principal: hit.principal,
    labels: labelView(hit.label),
    text: hit.text,
    score: hit.score,
  };
}

export function dispatchView(dispatch: EventDispatch) {
  return {
    id: dispatch.id,
    hook: dispatch.hook,
    session: dispatch.session,
    itemId: dispatch.item,
    outcome: dispatch.outcome,
    turnId: dispatch.turn ?? null,
    createdAt: isoTime(dispatch.atMs),
  };
}

/** Whose words it holds, to whom it is private, and which tools some author may not use. */
function labelView({ untrusted, private: readers, denied }: Label) {
  return { untrusted: [...untrusted], private: [...readers], denied: [...denied] };
}

/** A name in the label of a session, and what brought it first. */
export function originView({ kind, name, origin, atMs }: KeptOrigin) {
  return {
    label: labelNames({ [kind]: name === "" ? true : name })[0]!,
    from: describeOrigin(origin),
    turnId: origin.turn ?? null,
    at: isoTime(atMs),
  };
}

export function sessionView(session: StoredSession) {
  const { mode, profile } = session.settings;
  const trust = readTrust(session.settings);
  return {
    key: session.key,
    agent: session.agent,
    persona: session.persona,
    head: session.head ?? null,
    model: session.model ?? null,
    turnCount: session.turnCount,
    messageCount: session.messageCount,
    state: session.state,
    limitReached: session.limitReached,
    closed: session.isClosed,
    wait: session.wait ?? null,
    channel: session.channel ?? null,
    parentSession: session.parentSession ?? null,
    parentTurnId: session.parentTurn ?? null,
    parentCallId: session.parentCall ?? null,
    type: readWorker(session.worker)?.type ?? null,
    childCount: session.children,
    mode: typeof mode === "string" ? mode : null,
    profile: typeof profile === "string" ? profile : null,
    trust: marksOf(trust),
    labels: labelView(trust),
    queued: session.queued,
    runId: session.run ?? null,
    createdAt: isoTime(session.createdAtMs),
    usedAt: isoTime(session.usedAtMs),
  };
}

export function turnView({ turn, messages, toolCalls }: TurnContent) {
  const answerFrom = messages.findIndex(({ role }) => role === "assistant");
  const query = answerFrom === -1 ? messages : messages.slice(0, answerFrom);
  return {
    id: turn.id,
    parentId: turn.parent ?? null,
    depth: turn.depth,
    type: turn.type,
    status: turn.status,
    limitReached: endedAtLimit(messages),
    session: turn.session,
    agent: turn.agent,
    persona: turn.persona,
    role: turn.facts.role,
    profile: turn.facts.profile,
    provider: turn.facts.provider,
    model: turn.facts.model,
    query: query.map(({ id, role, content, atMs }) => ({ id, role, content, at: isoTime(atMs) })),
    text: answerText({ messages, toolCalls }),
    toolCalls: toolCalls.map(toolCallView),
    usage: turn.facts.usage,
    costUsd: turn.facts.costUsd,
    startedAt: isoTime(turn.startedAtMs),
    completedAt: isoTime(turn.completedAtMs),
    sourceEventId: turn.sourceEvent ?? null,
    hash: turn.hash,
    prunedAt: turn.prunedAtMs === undefined ? null : isoTime(turn.prunedAtMs),
    childCount: turn.childCount,
  };
}

/** A turn with all its messages. */
export function fullTurnView(content: TurnContent) {
  return { ...turnView(content), messages: content.messages.map(messageView) };
}

function messageView({ id, role, content, body, atMs }: Message) {
  return { id, role, content, body: body ?? null, at: isoTime(atMs) };
}

export function toolCallView(call: ToolCall) {
  return {
    id: call.callId,
    name: call.tool,
    args: call.params,
    result: resultText(call),
    status: call.status,
    durationMs: call.completedAtMs === undefined ? null : call.completedAtMs - call.startedAtMs,
    childSession: call.childSession ?? null,
  };
}

/** The text of a `ToolResult`. Null: no result yet. */
function resultText({ result }: ToolCall): string | null {
  if (result === undefined) return null;
  const isObject = typeof result === "object" && result !== null;
  return isObject && "text" in result && typeof result.text === "string"
    ? result.text
    : JSON.stringify(result);
}

export function itemView(item: QueueItem) {
  return {
    id: item.id,
    session: item.session,
    state: item.state,
    mode: item.mode,
    dueAt: isoTime(item.dueMs),
    queuedAt: isoTime(item.queuedAtMs),
    eventId: item.event.id,
    channel: item.event.channel,
    sender: item.event.sender ?? null,
    content: item.event.content,
    dispatches: item.dispatches.map(({ id, hook, message, profile }) => ({
      id,
      hook,
      message: message ?? null,
      profile: profile ?? null,
    })),
  };
}

/** The id of a dead letter is that of its queue item or delivery, which is what a retry needs. */
export function deadView(letter: DeadLetter) {
  return {
    kind: letter.kind,
    id: letter.kind === "message" ? letter.item : letter.delivery,
    turnId: letter.turn ?? null,
    session: letter.session ?? null,
    eventId: letter.event ?? null,
    target: letter.kind === "message" ? null : targetView(letter.target),
    error: letter.error,
    attempts: letter.attempts,
    diedAt: isoTime(letter.diedAtMs),
  };
}

export function runView(run: StoredRun) {
  return {
    id: run.id,
    turnId: run.turn,
    session: run.session,
    attempt: run.attempt,
    state: run.state,
    interruptions: run.interruptions,
    wait: run.wait ?? null,
    abort: run.abort ?? null,
    abortedBy: run.abortedBy ?? null,
    error: run.error ?? null,
    isCompacting: run.isCompacting,
    startedAt: isoTime(run.startedAtMs),
    endedAt: run.endedAtMs === undefined ? null : isoTime(run.endedAtMs),
  };
}

export function deliveryView(delivery: StoredDelivery) {
  const { id, turn, target, chunks, createdAtMs, settledAtMs } = delivery;
  return {
    id,
    turnId: turn ?? null,
    target: targetView(target),
    ...orNull(delivery, RENAMED),
    chunks: chunks.map(({ content, state, platformId }) => ({
      content,
      state,
      platformId: platformId ?? null,
    })),
    createdAt: isoTime(createdAtMs),
    settledAt: settledAtMs === undefined ? null : isoTime(settledAtMs),
  };
}

const RENAMED = new Set(["id", "turn", "target", "chunks", "createdAtMs", "settledAtMs"] as const);

/** The other fields, shown as they are, with null for undefined. */
function orNull<T extends object, Name extends keyof T>(
  fields: T,
  except: ReadonlySet<Name>,
): OrNull<Omit<T, Name>> {
  const shown: Record<string, unknown> = {};
  const skipped: ReadonlySet<keyof T> = except;
  for (const name in fields) if (!skipped.has(name)) shown[name] = fields[name] ?? null;
  return shown as OrNull<Omit<T, Name>>;
}

type OrNull<T> = {
  [Name in keyof T]: undefined extends T[Name] ? Exclude<T[Name], undefined> | null : T[Name];
};

function targetView({ channel, account, place, topic }: DeliveryTarget) {
  return { channel, account: account ?? null, place, topic: topic ?? null };
}

export function agentView(id: string, agent: AgentConfig) {
  return {
    id,
    persona: agent.persona,
    profile: agent.profile,
    role: agent.role,
    tools: [...agent.tools],
    skills: [...agent.skills],
    workspace: agent.workspace,
    queueMode: agent.queueMode ?? null,
    limits: agent.limits,
  };
}

export function personaView(id: string, { identity, permissions, mainSession }: PersonaConfig) {
  const { tools, ask, roots, hosts, channels, credentials, spendUsdPerDay } = permissions;
  return {
    id,
    name: identity.name,
    emoji: identity.emoji ?? null,
    soul: identity.soul ?? null,
    mainSession: mainSession ?? null,
    permissions: {
      tools: { allow: [...tools.allow], deny: [...tools.deny] },
      ask: [...ask],
      roots: [...roots],
      hosts: [...hosts],
      channels: [...channels],
      credentials: [...credentials],
      spendUsdPerDay,
    },
  };
}

/** The configuration without anything that may hold a secret: channels by name only. */
export function configView(config: Config) {
  const { broker, server, timezone, sandbox, store, relay } = config;
  return {
    agents: Object.entries(config.agents).map(([id, agent]) => agentView(id, agent)),
    personas: Object.entries(config.personas).map(([id, persona]) => personaView(id, persona)),
    profiles: Object.values(config.profiles).map(profileView),
    defaultProfile: config.defaultProfile ?? null,
    broker,
    server,
    timezone,
    sandbox,
    store,
    relay,
    channels: Object.keys(config.channels),
  };
}

/** Names the variable that holds the key. Options and extra variables may hold secrets and are left out. */
export function profileView(profile: Profile) {
  const { name, backend, provider, model, baseUrl, apiKeyEnv, thinking, fallback } = profile;
  return {
    name,
    backend,
    provider: provider ?? null,
    model: model ?? null,
    baseUrl: baseUrl ?? null,
    apiKeyEnv: apiKeyEnv ?? null,
    thinking: thinking ?? null,
    fallback: [...fallback],
  };
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
