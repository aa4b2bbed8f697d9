/**
 * Turns the port's values into the writer's input: fills in defaults and makes JSON canonical. Values over a limit
 * are refused here, on the caller's side, before anything is queued.
 */
import { hash } from "node:crypto";

import { CortexError } from "../../model/errors.ts";
import { type ApprovalId, DEFAULT_ACCOUNT, type DeliveryId } from "../../model/ids.ts";
import type { PlaceKind } from "../../model/event.ts";
import { canonicalJson, type Json } from "../../model/json.ts";
import type { AssistantBody, Message, ToolCall } from "../../model/message.ts";
import { normalizeSessionKey, type SessionKey } from "../../model/session-key.ts";
import { labelJson } from "../../model/trust.ts";
import type {
  Actor,
  KeptPersona,
  ApprovalAnswer,
  JournalEntry,
  KeptMember,
  HeldAnswer,
  Move,
  NewAnswer,
  NewApproval,
  DeliveryTarget,
  NewDelivery,
  NewDispatch,
  NewEvent,
  NewToken,
  NewWorker,
  PersonQuota,
  QueueCap,
  SourceCursor,
  Settings,
  TeamGift,
  TurnFacts,
  WrittenFile,
} from "../store.ts";
import {
  MAX_EVENT_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_MESSAGES_IN_TURN,
  MAX_TOOL_CALLS_IN_TURN,
} from "../store.ts";
import { NEVER_MS } from "./approval-requests.ts";
import type { Input } from "./operations.ts";
import { placeId } from "./place-id.ts";

type EventInput = Input<"acceptEvent">["event"];
type DispatchInput = Input<"dispatch">["dispatch"];
type WorkerInput = NonNullable<DispatchInput["worker"]>;
type QuotaInput = NonNullable<DispatchInput["quota"]>;
type DelegationInput = NonNullable<DispatchInput["delegation"]>;
type RequestInput = Input<"suspend">["requests"][number];
type HeldInput = NonNullable<Input<"commitTurn">["held"]>;
type EntryInput = Input<"journal">["entries"][number];
type MessageInput = Input<"commitTurn">["messages"][number];
type ToolCallInput = Input<"commitTurn">["toolCalls"][number];
type FactsInput = Input<"commitTurn">["facts"];
type MemberGift = NonNullable<Input<"keepMember">["give"]>;
type DeliveryInput = Input<"commitTurn">["deliveries"][number];

export function encodeEvent(event: NewEvent): EventInput {
  if (!/^[a-z0-9][a-z0-9_.-]*:./s.test(event.id))
    throw eventInvalid(event.id, "the id is not adapter:source");
  if (!Number.isSafeInteger(event.atMs))
    throw eventInvalid(event.id, `the time ${event.atMs} is not an integer of milliseconds`);
  const encoded = {
    ...event,
    places: encodePlaces(event),
    mentionsMe: event.mentionsMe === undefined ? null : Number(event.mentionsMe),
    contentType: event.contentType ?? "text",
    attachments: jsonText(event.attachments),
    payload: jsonText(event.payload),
    metadata: jsonText(event.metadata),
    principal: event.principal ?? null,
    audience: event.audience ?? null,
    label: event.label === undefined ? null : canonicalJson(labelJson(event.label)),
    returns: event.returns === true ? 1 : 0,
  };
  const bytes = weighEvent(encoded);
  if (bytes > MAX_EVENT_BYTES) throw tooLarge(`Event ${event.id}`, bytes);
  return encoded;
}

/** An answer's content is the last message of its turn, so the event has none of its own. */
export function encodeAnswer(answer: NewAnswer): EventInput {
  return encodeEvent({ ...answer, content: null, direction: "sent" });
}

/** The size of its largest part: a webhook's body is stored twice, as payload and as content. */
function weighEvent(event: EventInput): number {
  const parts = [event.content, event.payload, event.metadata, event.attachments];
  return Math.max(...parts.map((text) => Buffer.byteLength(text ?? "")));
}

export function encodeDispatch(dispatch: NewDispatch): DispatchInput {
  const { target } = dispatch;
  const at =
    target.kind === "session"
      ? {
          session: checkKey(target.session),
          agent: target.agent,
          persona: target.persona,
          worker: target.worker === undefined ? undefined : encodeWorker(target.worker),
          turn: null,
          forkAs: null,
        }
      : {
          session: null,
          agent: null,
          persona: null,
          worker: undefined,
          turn: target.turn,
          forkAs: checkKey(target.forkAs),
        };
  const encoded = {
    id: dispatch.id,
    item: dispatch.item,
    hook: dispatch.hook,
    ...at,
    mode: dispatch.mode,
    dueMs: dispatch.dueMs ?? null,
    gatherMs: dispatch.gatherMs ?? 0,
    cap: dispatch.cap === undefined ? undefined : checkCap(dispatch.cap),
    quota: dispatch.quota === undefined ? undefined : encodeQuota(dispatch.quota),
    drains: dispatch.mode === "interrupt" ? (dispatch.drains ?? null) : null,
    message: dispatch.message ?? null,
    late: dispatch.late ?? null,
    context: jsonText(dispatch.context),
    permissions: jsonText(dispatch.permissions),
    profile: dispatch.profile ?? null,
    delivery: jsonText(dispatch.delivery),
    from: dispatch.from ?? null,
    delegation: dispatch.delegation === undefined ? undefined : encodeDelegation(dispatch),
    remark: dispatch.remark === true ? 1 : 0,
  };
  const { message, context, permissions, delivery } = encoded;
  const bytes = [message, context, permissions, delivery].reduce(
    (sum, text) => sum + Buffer.byteLength(text ?? ""),
    0,
  );
  if (bytes > MAX_EVENT_BYTES) throw tooLarge(`The dispatch of ${dispatch.hook}`, bytes);
  return encoded;
}

function encodeWorker({ parent, parentTurn, parentCall, worker }: NewWorker): WorkerInput {
  return { parent, parentTurn, parentCall, worker: encodeJson(worker, "The brief of a worker") };
}

function encodeDelegation({ from, delegation }: NewDispatch): DelegationInput {
  const { id, turn, ordinal, waits, deadlineMs, detail } = delegation!;
  if (from === undefined) {
    throw new CortexError("request_invalid", `Delegation ${id} has no \`from\``, {
      hint: "Set `from` to the session that delegates the work.",
    });
  }
  checkPlace(ordinal, MAX_TOOL_CALLS_IN_TURN, "tool calls");
  return {
    id,
    turn,
    ordinal,
    waits: waits ? 1 : 0,
    deadlineMs: deadlineMs ?? null,
    detail: detail === undefined ? null : encodeJson(detail, `The detail of delegation ${id}`),
  };
}

function checkCap(cap: QueueCap): QueueCap {
  if (Number.isSafeInteger(cap.max) && cap.max >= 1) return cap;
  throw new CortexError("limit_invalid", `Invalid queue limit ${cap.max}`, {
    hint: "Use an integer of at least 1.",
  });
}

/** The store makes the id and the text of the notice. */
const NO_ID = "" as DeliveryId;

function encodeQuota({ notice, ...limits }: PersonQuota): QuotaInput {
  return {
    ...limits,
    notice: notice === undefined ? undefined : encodeDelivery({ ...notice, id: NO_ID }),
  };
}

export function encodeMember({
  team,
  member,
  state,
}: KeptMember): Omit<Input<"keepMember">, "isOver" | "give"> {
  return { team, member, state: encodeJson(state, `The state of ${member}`) };
}

export function encodeGift({ session, agent, persona, worker }: TeamGift): MemberGift {
  return { session: checkKey(session), agent, persona, worker: encodeJson(worker, "The brief of a member") };
}

export function encodeJson(value: Json, what: string): string {
  return checkSize(canonicalJson(value), what);
}

export function encodeRequest(given: NewApproval): RequestInput {
  const { id, kind, callHash, request, expiresAtMs, notice, replaces } = given;
  return {
    id,
    kind,
    callHash,
    request: encodeJson(request, `The request ${id}`),
    expiresMs: expiresAtMs ?? NEVER_MS,
    replaces,
    notice: notice === undefined ? undefined : encodeDelivery(notice),
  };
}

export function encodeHeld(held: HeldAnswer | undefined): HeldInput | undefined {
  if (held === undefined) return undefined;
  const { request, deliveries, refused } = held;
  return {
    request: encodeRequest(request),
    deliveries: deliveries.map(encodeDelivery),
    refused: refused.map(encodeDelivery),
  };
}

export function encodeAnswerTo(id: ApprovalId, answer: ApprovalAnswer): Input<"answerApproval"> {
  return { id, kind: answer.kind, answer: encodeJson(answer, `The answer to ${id}`) };
}

/** Settings are merged, so they must be an object. */
export function encodeSettings(settings: Settings): string {
  if (typeof settings === "object" && settings !== null && !Array.isArray(settings))
    return encodeJson(settings, "The settings of a session");
  throw new CortexError("request_invalid", `Invalid settings ${canonicalJson(settings)}`, {
    hint: 'Use an object such as {"profile": "fast"}.',
  });
}

export function encodeMove({ from, to }: Move): Move {
  return { from: checkKey(from), to: checkKey(to) };
}

export function encodeEntry(entry: JournalEntry): EntryInput {
  switch (entry.kind) {
    case "message": {
      checkPlace(entry.place, MAX_MESSAGES_IN_TURN, "messages");
      const { place, items = [], dispatches = null } = entry;
      const message = encodeMessage(entry.message);
      const used = encodeUsed([entry.message]);
      return {
        message: { place, message, items, dispatches, costUsd: costOf(entry.message), used },
        call: undefined,
        result: undefined,
      };
    }
    case "call":
      return { message: undefined, call: encodeToolCall({ ...entry, status: "started" }), result: undefined };
    case "result": {
      const { ordinal, status, completedAtMs } = entry;
      const childSession = entry.childSession ?? null;
      const result = checkSize(canonicalJson(entry.result), `The result of call ${ordinal}`);
      return {
        message: undefined,
        call: undefined,
        result: { ordinal, status, result, childSession, completedAtMs },
      };
    }
  }
}

export function encodeMessage({ id, role, content, body, atMs }: Message): MessageInput {
  const encoded = { id, role, content, body: jsonText(body), atMs };
  checkSize(content + (encoded.body ?? ""), `Message ${id}`);
  return encoded;
}

/** The cost that a model's answer reports. */
function costOf({ role, body }: Message): number | null {
  const costUsd = role === "assistant" ? (body as Partial<AssistantBody> | null | undefined)?.costUsd : null;
  return typeof costUsd === "number" ? costUsd : null;
}

/** Providers that cost nothing: the offline model, and Cortex itself. */
const FREE_PROVIDERS: ReadonlySet<string | undefined> = new Set(["offline", "cortex", undefined]);

/** Model calls and tokens behind these messages, without cached tokens. */
export function encodeUsed(messages: readonly Message[]): { calls: number; tokens: number } {
  const used = { calls: 0, tokens: 0 };
  for (const { role, body } of messages) {
    const { provider, usage } = (body ?? {}) as Partial<AssistantBody>;
    if (role !== "assistant" || FREE_PROVIDERS.has(provider)) continue;
    used.calls++;
    if (usage !== undefined) used.tokens += Math.round(usage.input + usage.output + usage.cacheWrite);
  }
  return used;
}

export function encodeToolCall(call: ToolCall): ToolCallInput {
  checkPlace(call.ordinal, MAX_TOOL_CALLS_IN_TURN, "tool calls");
  const { ordinal, callId, tool, status, startedAtMs } = call;
  return {
    ordinal,
    callId,
    tool,
    params: checkSize(canonicalJson(call.params), `Call ${callId}`),
    status,
    result:
      call.result === undefined
        ? null
        : checkSize(canonicalJson(call.result), `The result of call ${callId}`),
    childSession: call.childSession ?? null,
    startedAtMs,
    completedAtMs: call.completedAtMs ?? null,
  };
}

export function encodeFacts({ usage, permissions, ...facts }: TurnFacts): FactsInput {
  return { ...facts, ...usage, permissions: permissions === undefined ? null : canonicalJson(permissions) };
}

export function encodeCursor({ source, value }: SourceCursor): Input<"setCursors">["cursors"][number] {
  return { source, value: value === undefined ? undefined : encodeJson(value, `The cursor of ${source}`) };
}

export function encodeDelivery(delivery: NewDelivery): DeliveryInput {
  checkSize(delivery.content ?? "", `Delivery ${delivery.id}`);
  const extras =
    delivery.extras === undefined
      ? null
      : encodeJson(delivery.extras as Json, `The extras of delivery ${delivery.id}`);
  return { ...delivery, extras, ...encodeTarget(delivery.target) };
}

export function encodeTarget({ channel, account = DEFAULT_ACCOUNT, place, topic }: DeliveryTarget) {
  const target = canonicalJson([channel, account, place, topic ?? null]);
  return { target, channel, account, place, topic: topic ?? null };
}

/** Valid keys, so that a busy session's key is not parsed for every message. */
const goodKeys = new Set<SessionKey>();
const MAX_GOOD_KEYS = 10_000;

/** A key that is not normalized would create a second session for the same place. */
export function checkKey(session: SessionKey): SessionKey {
  if (goodKeys.has(session)) return session;
  const key = normalizeSessionKey(session);
  if (key === session) {
    if (goodKeys.size >= MAX_GOOD_KEYS) goodKeys.clear();
    goodKeys.add(key);
    return key;
  }
  throw new CortexError(
    "session_key_invalid",
    `Session key "${session}" is not normalized: expected "${key}"`,
    {
      hint: "Build session keys with the functions of the model, which normalize them.",
    },
  );
}

/** From the outside in: the enclosing place, the place, its topic. */
function encodePlaces(event: NewEvent): EventInput["places"] {
  const { channel, account = DEFAULT_ACCOUNT, place, topic, placeKind, placeName, parentPlace } = event;
  if (place === undefined) {
    const needy = (["account", "topic", "placeName", "parentPlace"] as const).find(
      (field) => event[field] !== undefined,
    );
    if (needy === undefined) return [];
    throw eventInvalid(event.id, `${needy} ${JSON.stringify(event[needy])} requires a place`);
  }
  if (parentPlace === place) throw eventInvalid(event.id, `place ${JSON.stringify(place)} is its own parent`);
  const at = (
    at: { readonly place: string; readonly topic?: string },
    known: { kind?: PlaceKind; name?: string },
  ) => ({
    id: placeId({ channel, account, ...at }),
    account,
    place: at.place,
    topic: at.topic ?? null,
    kind: known.kind ?? null,
    name: known.name ?? null,
  });
  const kind = placeKind === undefined ? {} : { kind: placeKind };
  return [
    ...(parentPlace === undefined ? [] : [at({ place: parentPlace }, {})]),
    at({ place }, { ...kind, ...(placeName === undefined ? {} : { name: placeName }) }),
    ...(topic === undefined ? [] : [at({ place, topic }, kind)]),
  ];
}

function jsonText(value: Json | undefined): string | null {
  return value === undefined ? null : canonicalJson(value);
}

function checkSize(text: string, what: string): string {
  const bytes = text.length > MAX_MESSAGE_BYTES / 3 ? Buffer.byteLength(text) : text.length;
  if (bytes <= MAX_MESSAGE_BYTES) return text;
  throw new CortexError(
    "message_too_large",
    `${what} has ${bytes} bytes; the limit is ${MAX_MESSAGE_BYTES}`,
    {
      hint: "Put the rest in a file and link to it.",
    },
  );
}

function checkPlace(place: number, limit: number, what: string): void {
  if (Number.isInteger(place) && place >= 0 && place < limit) return;
  throw new CortexError("limit_invalid", `Position ${place} is out of range for the ${what} of a turn`, {
    hint: `A turn holds up to ${limit} ${what}, numbered from 0.`,
  });
}

function tooLarge(what: string, bytes: number): CortexError {
  return new CortexError("event_too_large", `${what} has ${bytes} bytes; the limit is ${MAX_EVENT_BYTES}`, {
    hint: "Send large content as an attachment.",
  });
}

function eventInvalid(id: string, why: string): CortexError {
  return new CortexError("event_invalid", `Invalid event ${JSON.stringify(id)}: ${why}`, {
    hint: "An event id is `<adapter>:<source id>`, such as `webhook:42`; times are whole milliseconds.",
  });
}

export function encodeWritten({ label, turn, ...file }: WrittenFile): Input<"willWrite">["file"] {
  return { ...file, label: canonicalJson(labelJson(label)), turn: turn ?? null };
}

export function encodePersonas(personas: readonly KeptPersona[], rights: Json): Input<"syncPersonas"> {
  const encoded = personas.map(encodePersona);
  return { personas: encoded, digest: hash("sha256", canonicalJson([encoded, rights])) };
}

function encodePersona(persona: KeptPersona): Input<"syncPersonas">["personas"][number] {
  const { id, identity, permissions, mainSession } = persona;
  return {
    id,
    identity: encodeJson(identity, `The identity of ${id}`),
    permissions: encodeJson(permissions, `The permissions of ${id}`),
    mainSession: mainSession ?? null,
  };
}

export function encodeToken(token: NewToken, by: Actor): Input<"createToken"> {
  const { id, name, hash: digest, can, person, expiresAtMs } = token;
  return { id, name, hash: digest, can: canonicalJson(can), person, expiresMs: expiresAtMs, by };
}
