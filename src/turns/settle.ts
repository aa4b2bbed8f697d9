/** The ends that a run can have, each one commitRun. */
import assert from "node:assert/strict";

import type { AgentResult } from "../agents/agent.ts";
import { isOutside } from "../model/audience.ts";
import { attachedTo } from "../model/attach-tool.ts";
import { CortexError } from "../model/errors.ts";
import { ANSWER_ADAPTER } from "../model/event.ts";
import { eventId } from "../model/event-id.ts";
import type { Json } from "../model/json.ts";
import { assistantBody, endedAtLimit, type Message, type ToolCall } from "../model/message.ts";
import { present } from "../model/present.ts";
import { wasReplied } from "../model/reply-tool.ts";
import { answeredMessage } from "../model/stamp.ts";
import { readTrust } from "../model/trust.ts";
import { addUsage, NO_USAGE } from "../model/usage.ts";
import type {
  Claim,
  LeaseRequest,
  NewAnswer,
  NewApproval,
  QueueItem,
  RunFailure,
  Store,
  TurnFacts,
} from "../store/store.ts";
import { isAskingTooMuch, requestNotice, requestsOf } from "./approval.ts";
import { audienceOfTurn } from "./audience.ts";
import { withContext } from "./request-context.ts";
import { deliveriesFor, noticesTo } from "./answer-deliveries.ts";
import type { Alternative, CoolDown } from "./choose-profile.ts";
import { sendOrHold } from "./hold-answer.ts";
import type { Suspension } from "./journal.ts";
import type { RunWork } from "./prepare.ts";
import { isByOthers } from "./setup.ts";
import type { TurnPorts } from "./turn-ports.ts";

export async function commitRun(
  result: Extract<AgentResult, { kind: "done" | "aborted" }>,
  work: RunWork,
  claimNext: LeaseRequest | undefined,
  ports: TurnPorts,
): Promise<Claim | undefined> {
  const { claim, journal, setup, profile, items, permissions } = work;
  const answer = result.kind === "done" ? result.answer : result.partial;
  const unwritten = [...journal.unwritten, ...(answer === undefined ? [] : [answer])];
  const messages = answer === undefined ? journal.messages : [...journal.messages, answer];
  const { next } = await ports.store.turns.commit({
    lease: claim.lease,
    run: claim.run,
    turn: claim.turn,
    parent: claim.parent,
    status: result.kind === "done" ? "completed" : "aborted",
    facts: {
      ...turnFacts(messages, { role: setup.agent.role, profile: profile.name }),
      permissions: {
        granted: permissions() as unknown as Json,
        used: { tools: toolsUsed(journal.toolCalls) },
      },
    },
    messages: unwritten,
    toolCalls: [],
    ...(answer === undefined
      ? {}
      : { answer: answerEvent(work, messages, ports.clock()), judge: ports.features.wants("sent") }),
    ...(answer === undefined || wasReplied(answer.content, journal.toolCalls)
      ? {}
      : await deliver(answer.content, work, ports)),
    timing: ports.spans.read(claim.turn),
    ...(claimNext === undefined ? {} : { claimNext }),
  });
  ports.spans.mark(claim.turn, "committed");
  ports.coolDowns.forget(claim.turn);
  ports.outcomes.look(items.map(({ id }) => id));
  return next;
}

function deliver(text: string, work: RunWork, ports: TurnPorts): ReturnType<typeof sendOrHold> {
  const { items, claim, labels, journal } = work;
  const { store } = ports;
  const item = answered(items);
  const { principal } = labels.writer;
  const answer = {
    text,
    deliveries: deliveriesFor(item, text, ports, { files: attachedTo(journal.toolCalls) }),
    audience: audienceOfTurn(items),
    readLabel: async () => readTrust((await store.sessions.get(claim.lease.session))?.settings ?? {}),
    mayAsk: async () => !(await isAskingTooMuch({ principal, turn: claim.turn, own: 0 }, ports)),
    noticesTo: (notice: string) => noticesTo(item, notice, ports),
    inContext: (request: NewApproval) => withContext(request, item, work, store),
  };
  return sendOrHold(answer, ports);
}

/** The tools whose calls were made. Refused and skipped calls are in the turn. */
function toolsUsed(calls: readonly ToolCall[]): string[] {
  const made = calls.filter(({ status }) => status === "ok" || status === "error" || status === "unknown");
  return [...new Set(made.map(({ tool }) => tool))].toSorted();
}

/** An agent's answer is an event too, in the place its message came from. */
function answerEvent(
  { claim, setup, items }: RunWork,
  messages: readonly Message[],
  atMs: number,
): NewAnswer {
  const { channel, account, place, topic, id } = answered(items).event;
  return {
    id: eventId(ANSWER_ADAPTER, { kind: "id", sourceId: claim.turn }),
    channel,
    sender: setup.id,
    ...present({ place, account, topic }),
    replyTo: id,
    ...(endedAtLimit(messages) ? { metadata: { limitReached: true } } : {}),
    atMs,
  };
}

/** The session stays occupied until the answers arrive; slot and lease are free. */
export async function suspendRun(
  suspensions: readonly Suspension[],
  work: RunWork,
  ports: TurnPorts,
): Promise<undefined> {
  const { claim } = work;
  const { store } = ports;
  const [first] = suspensions;
  assert(first !== undefined);
  // Workers continue by themselves; a person has to know that the turn waits for them.
  const shown = suspensions.find(({ kind }) => kind !== "child") ?? first;
  const wait = {
    id: `${claim.turn}-${first.ordinal}-${suspensions.length}`,
    kind: shown.kind,
    detail: { calls: suspensions as unknown as Json },
  };
  const requests = await Promise.all(
    requestsOf(suspensions).map(async (request) =>
      withNotice(await withContext(request, answered(work.items), work, store), work, ports),
    ),
  );
  await store.runs.suspend(claim.lease, claim.run, wait, requests);
}

/** Tells the sender, if they are on another channel, what the answer waits for. */
function withNotice(request: NewApproval, { claim, worker, items }: RunWork, ports: TurnPorts): NewApproval {
  const { text, buttons } = requestNotice(request, {
    session: claim.lease.session,
    isByOthers: isByOthers(items) || isOutside(audienceOfTurn(items)),
  });
  const [notice] = noticesTo(answered(items), text, ports, worker?.asks);
  if (notice === undefined) return request;
  return { ...request, notice: buttons.length === 0 ? notice : { ...notice, extras: { buttons } } };
}

/** Leaves a run as it is, for the next process to continue. */
export async function parkRun(claim: Claim, store: Store): Promise<undefined> {
  await store.queue.release([claim.lease]);
}

interface FailedRun {
  readonly claim: Claim;
  readonly items: readonly QueueItem[] | undefined;
  /** Number of fallback profiles, each of which may be tried. */
  readonly fallbacks?: number;
  readonly alternative?: Alternative | undefined;
  /** Of the profile, if the failure caused one. */
  readonly coolDown?: CoolDown | undefined;
}

export async function failRun(
  error: unknown,
  { claim, items, fallbacks = 0, alternative, coolDown }: FailedRun,
  claimNext: LeaseRequest | undefined,
  ports: TurnPorts,
): Promise<Claim | undefined> {
  if (error instanceof CortexError && error.code === "lease_lost") return undefined; // its holder continues
  const { maxAttempts, retryMs } = ports.settings.config().broker;
  const outcome = nextAttempt(error, {
    attempt: claim.attempt,
    maxAttempts: maxAttempts + fallbacks,
    firstDelayMs: retryMs,
    alternative,
    nowMs: ports.clock(),
    random: ports.random(),
  });
  if (outcome.kind === "dead") ports.coolDowns.forget(claim.turn);
  const affected = outcome.kind === "dead" ? (items ?? (await ports.store.queue.itemsOf(claim.turn))) : [];
  const { next } = await ports.store.runs.fail({
    lease: claim.lease,
    run: claim.run,
    error:
      describe(error) + (coolDown === undefined ? "" : ` ${consequences(coolDown, outcome, alternative)}`),
    outcome,
    deliveries: affected.flatMap((item) => noticesTo(item, NOTICE, ports)),
    ...(claimNext === undefined ? {} : { claimNext }),
  });
  if (affected.length > 0) ports.outcomes.look(affected.map(({ id }) => id));
  return next;
}

function consequences(
  { profile, untilMs }: CoolDown,
  outcome: RunFailure["outcome"],
  alternative: Alternative | undefined,
): string {
  const cooling = `Profile ${profile} is cooling down until ${new Date(untilMs).toISOString()}`;
  if (outcome.kind === "dead") return `${cooling}.`;
  if (alternative === "now") return `${cooling}; trying its fallback now.`;
  return `${cooling}; the next attempt is at ${new Date(outcome.atMs).toISOString()}.`;
}

/** A claimed turn always answers a message. */
function answered(items: readonly QueueItem[]): QueueItem {
  const item = answeredMessage(items);
  assert(item !== undefined);
  return item;
}

/** For a sender on another channel; the error itself is for the owner. */
const NOTICE = "I could not answer this message. It was saved and can be retried.";

/** Some providers return whole pages. */
const MAX_ERROR_LENGTH = 4_000;

function describe(error: unknown): string {
  return explain(error).slice(0, MAX_ERROR_LENGTH).toWellFormed();
}

function explain(error: unknown): string {
  if (error instanceof CortexError) return `${error.code}: ${error.message}. ${error.hint}`;
  return `unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

/** How a turn was made: the sum over all its model calls, including those before a crash. */
export function turnFacts(
  messages: readonly Message[],
  { role, profile }: { readonly role: TurnFacts["role"]; readonly profile: string },
): TurnFacts {
  const bodies = messages.filter(({ role: speaker }) => speaker === "assistant").map(assistantBody);
  const usage = bodies.reduce((sum, body) => addUsage(sum, body.usage ?? NO_USAGE), NO_USAGE);
  const costs = bodies.map(({ costUsd }) => costUsd ?? null);
  const last = bodies.findLast(({ provider }) => provider !== undefined && provider !== "cortex");
  return {
    role,
    profile,
    provider: last?.provider ?? "none",
    model: last?.model ?? "none",
    usage,
    costUsd: costs.includes(null) ? null : costs.reduce((sum: number, cost) => sum + cost!, 0),
  };
}

const MAX_DELAY_MS = 60_000;

interface Attempt {
  /** 1 for the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Before the second attempt; doubled before each further one. */
  readonly firstDelayMs: number;
  readonly nowMs: number;
  /** Between 0 and 1: spreads the retries of many turns. */
  readonly random: number;
  /** After a failure of the model: whether another profile can be tried. */
  readonly alternative?: Alternative | undefined;
}

/** Whether a turn whose attempt failed is retried, now or later, or becomes a dead letter. */
export function nextAttempt(
  error: unknown,
  { attempt, maxAttempts, firstDelayMs, nowMs, random, alternative }: Attempt,
): RunFailure["outcome"] {
  if (!(error instanceof CortexError)) return { kind: "dead" };
  // A full disk is not the message's fault: it waits until there is space.
  const isPatient = error.transient && error.code.startsWith("store_");
  if (attempt >= maxAttempts && !isPatient) return { kind: "dead" };
  if (error.code === "head_moved") return { kind: "retry", atMs: nowMs }; // the next attempt follows the new head
  if (alternative === "now") return { kind: "retry", atMs: nowMs };
  if (!error.transient && alternative !== "later") return { kind: "dead" };
  const backoff = Math.min(firstDelayMs * 2 ** (attempt - 1), MAX_DELAY_MS);
  const jittered = backoff * (0.5 + random / 2);
  return { kind: "retry", atMs: nowMs + Math.max(Math.round(jittered), error.retryAfterMs ?? 0) };
}
