/** The ends that a run can have, each one commit. */
import type { AgentResult } from "../agents/agent.ts";
import { CortexError } from "../model/errors.ts";
import { ANSWER_ADAPTER, eventId } from "../model/event.ts";
import type { Json } from "../model/json.ts";
import { endedAtLimit, type Message, type ToolCall } from "../model/message.ts";
import { wasReplied } from "../model/reply-tool.ts";
import { answeredMessage } from "../model/stamp.ts";
import { present } from "../model/present.ts";
import type {
  Claim,
  LeaseRequest,
  NewAnswer,
  NewApproval,
  NewDelivery,
  QueueItem,
  RunFailure,
  Store,
} from "../store/store.ts";
import type { Alternative } from "./choose-profile.ts";
import type { CoolDown } from "./cool-downs.ts";
import { turnFacts } from "./facts.ts";
import { requestsOf } from "./approval.ts";
import type { Suspension } from "./journal.ts";
import type { Work } from "./prepare.ts";
import { requestNotice } from "./request-notice.ts";
import { nextAttempt } from "./retry.ts";
import type { TurnPorts } from "./turn-ports.ts";
import { isByOthers } from "./untrusted.ts";

export async function commit(
  result: Extract<AgentResult, { kind: "done" | "aborted" }>,
  work: Work,
  claimNext: LeaseRequest | undefined,
  parts: TurnPorts,
): Promise<Claim | undefined> {
  const { claim, journal, setup, profile, items, permissions } = work;
  const answer = result.kind === "done" ? result.answer : result.partial;
  const unwritten = [...journal.unwritten, ...(answer === undefined ? [] : [answer])];
  const messages = answer === undefined ? journal.messages : [...journal.messages, answer];
  const { next } = await parts.store.turns.commit({
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
      : { answer: answerEvent(work, messages, parts.clock()), judge: parts.features.wants("sent") }),
    deliveries:
      answer === undefined || wasReplied(answer.content, journal.toolCalls)
        ? []
        : parts.deliveriesFor(answeredMessage(items)!, answer.content),
    timing: parts.spans.read(claim.turn),
    ...(claimNext === undefined ? {} : { claimNext }),
  });
  parts.spans.mark(claim.turn, "committed");
  parts.coolDowns.forget(claim.turn);
  parts.outcomes.look(items.map(({ id }) => id));
  return next;
}

/** The tools whose calls were made; those that were refused or skipped are in the turn. */
function toolsUsed(calls: readonly ToolCall[]): string[] {
  const made = calls.filter(({ status }) => status === "ok" || status === "error" || status === "unknown");
  return [...new Set(made.map(({ tool }) => tool))].toSorted();
}

/** The agent's answers are events too, in the place where the turn's message came from. */
function answerEvent({ claim, setup, items }: Work, messages: readonly Message[], atMs: number): NewAnswer {
  const { channel, account, place, topic, id } = answeredMessage(items)!.event;
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

/** The session stays occupied until the answers are there; slot and lease are free. */
export async function suspend(
  suspensions: readonly Suspension[],
  work: Work,
  parts: Pick<TurnPorts, "store" | "deliveriesFor">,
): Promise<undefined> {
  const { claim } = work;
  const { store } = parts;
  const [first] = suspensions;
  // Workers go on by themselves; a person has to know that it waits for them.
  const shown = suspensions.find(({ kind }) => kind !== "child") ?? first;
  const wait = {
    id: `${claim.turn}-${first!.ordinal}-${suspensions.length}`,
    kind: shown!.kind,
    detail: { calls: suspensions as unknown as Json },
  };
  const requests = requestsOf(suspensions).map((request) => withNotice(request, work, parts));
  await store.runs.suspend(claim.lease, claim.run, wait, requests);
}

/** Whoever waits for the answer elsewhere is told what it waits for. */
function withNotice(
  request: NewApproval,
  { claim, worker, items }: Work,
  parts: Pick<TurnPorts, "deliveriesFor">,
): NewApproval {
  const text = requestNotice(request, { session: claim.lease.session, isByOthers: isByOthers(items) });
  const [notice] = noticesTo(answeredMessage(items)!, text, parts, worker?.asks);
  return notice === undefined ? request : { ...request, notice };
}

/** Leaves a run where it stands, for the next process to go on with. */
export async function park(claim: Claim, store: Store): Promise<undefined> {
  await store.queue.release([claim.lease]);
}

interface FailedRun {
  readonly claim: Claim;
  readonly items: readonly QueueItem[] | undefined;
  /** How many profiles there are beside the wished one: each may be tried. */
  readonly fallbacks?: number;
  readonly alternative?: Alternative | undefined;
  /** Of the profile, where the failure has brought one. */
  readonly coolDown?: CoolDown | undefined;
}

export async function fail(
  error: unknown,
  { claim, items, fallbacks = 0, alternative, coolDown }: FailedRun,
  claimNext: LeaseRequest | undefined,
  parts: TurnPorts,
): Promise<Claim | undefined> {
  if (error instanceof CortexError && error.code === "lease_lost") return undefined; // whoever has it goes on
  const { maxAttempts, retryMs } = parts.settings.config().broker;
  const outcome = nextAttempt(error, {
    attempt: claim.attempt,
    maxAttempts: maxAttempts + fallbacks,
    firstDelayMs: retryMs,
    alternative,
    nowMs: parts.clock(),
    random: parts.random(),
  });
  if (outcome.kind === "dead") parts.coolDowns.forget(claim.turn);
  const affected = outcome.kind === "dead" ? (items ?? (await parts.store.queue.itemsOf(claim.turn))) : [];
  const { next } = await parts.store.runs.fail({
    lease: claim.lease,
    run: claim.run,
    error:
      describe(error) + (coolDown === undefined ? "" : ` ${consequences(coolDown, outcome, alternative)}`),
    outcome,
    deliveries: affected.flatMap((item) => noticesTo(item, NOTICE, parts)),
    ...(claimNext === undefined ? {} : { claimNext }),
  });
  if (affected.length > 0) parts.outcomes.look(affected.map(({ id }) => id));
  return next;
}

function consequences(
  { profile, untilMs }: CoolDown,
  outcome: RunFailure["outcome"],
  alternative: Alternative | undefined,
): string {
  const cooling = `The profile ${profile} is cooling down until ${new Date(untilMs).toISOString()}`;
  if (outcome.kind === "dead") return `${cooling}.`;
  if (alternative === "now") return `${cooling}; its fallback is tried at once.`;
  return `${cooling}; the next attempt is at ${new Date(outcome.atMs).toISOString()}.`;
}

function noticesTo(
  item: QueueItem,
  text: string,
  { deliveriesFor }: Pick<TurnPorts, "deliveriesFor">,
  to?: Json,
): (NewDelivery & { readonly content: string })[] {
  return deliveriesFor(item, text, to).map((delivery) => Object.assign({ content: text }, delivery));
}

/** What a person who waits elsewhere is told; the error itself is for the owner. */
const NOTICE = "I could not answer this message. It is kept, and can be tried again.";

/** Some providers answer with whole pages. */
const MAX_ERROR_LENGTH = 4_000;

function describe(error: unknown): string {
  return explain(error).slice(0, MAX_ERROR_LENGTH).toWellFormed();
}

function explain(error: unknown): string {
  if (error instanceof CortexError) return `${error.code}: ${error.message}. ${error.hint}`;
  return `unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
