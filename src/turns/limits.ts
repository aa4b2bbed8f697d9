/**
 * What bounds a turn: its own limits, what its persona and the whole home may use in a day, and how long its model
 * may go without progress. The first two are checked before every model call and end the turn with an answer that
 * names the limit.
 */
import { count } from "../model/count.ts";
import { dayStart } from "../model/day.ts";
import { CortexError } from "../model/errors.ts";
import type { PersonaId } from "../model/ids.ts";
import { canonicalJson } from "../model/json.ts";
import { assistantBody, callsOf, type Message, type ToolCall } from "../model/message.ts";
import type { Permissions } from "../model/permissions.ts";
import { isOthers, personIdOf, type Principal } from "../model/principal.ts";
import type { Profile } from "../model/profile.ts";
import type { ToolResult } from "../model/tool.ts";
import type { Worker } from "../model/worker.ts";
import type { Journal, ModelUse, Store } from "../store/store.ts";
import type { TurnPorts } from "./turn-ports.ts";

/** The limits of one turn. */
export interface TurnLimits {
  readonly modelCalls: number;
  readonly costUsd: number;
  /** Time at work, over all attempts. */
  readonly wallClockMs: number;
  /** How many times in a row the same call with the same parameters may be made. */
  readonly repeatedCalls: number;
}

/** The answer that ends a turn which has reached a limit; undefined: it may go on. */
export function limitReached(
  limits: TurnLimits,
  turn: { readonly messages: readonly Message[]; readonly workedMs: number },
  worker?: Worker,
): string | undefined {
  const stopped = (why: string, limit: keyof TurnLimits): string =>
    `I stopped here: ${why}. (Limit ${nameOf(limit, limits, worker)}.)${worker === undefined ? " Write again to continue." : ""}`;
  const answers = turn.messages.filter(({ role }) => role === "assistant");
  if (answers.length >= limits.modelCalls) {
    return stopped(`this turn made ${count(answers.length, "model call")}`, "modelCalls");
  }
  const costUsd = answers.reduce((sum, answer) => sum + (assistantBody(answer).costUsd ?? 0), 0);
  if (costUsd >= limits.costUsd && costUsd > 0) {
    return stopped(`this turn cost ${costUsd.toFixed(4)} USD`, "costUsd");
  }
  if (turn.workedMs >= limits.wallClockMs) {
    const seconds = Math.round(turn.workedMs / 1000);
    return stopped(`this turn took ${seconds} s`, "wallClockMs");
  }
  const repeated = repetitions(answers);
  if (repeated >= limits.repeatedCalls) {
    return stopped(`this turn repeated the same call ${repeated} times in a row`, "repeatedCalls");
  }
  return undefined;
}

/** How many calls at the end of a turn are the same. */
function repetitions(answers: readonly Message[]): number {
  const calls = answers.flatMap(callsOf).map((call) => canonicalJson([call.name, call.arguments]));
  const last = calls.at(-1);
  const other = calls.findLastIndex((call) => call !== last);
  return calls.length - 1 - other;
}

/** Names a limit and whose it is: the worker's where that is the narrower one. */
function nameOf(limit: keyof TurnLimits, limits: TurnLimits, worker: Worker | undefined): string {
  if (limit === "modelCalls" && worker?.maxTurns === limits.modelCalls) {
    const whose = worker.type === undefined ? "this work" : `this sub-agent of type ${worker.type}`;
    return `\`maxTurns\` of ${whose}: ${limits.modelCalls}`;
  }
  if (limit === "costUsd" && worker?.costUsd === limits.costUsd)
    return `\`costUsd\` of this work: ${limits.costUsd}`;
  return `\`${limit}\`: ${limits[limit]}, in the agent's \`limits\``;
}

/** How long a turn has been at work: in earlier stretches, and since this one began. */
export interface Worked {
  readonly beforeMs: number;
  readonly sinceMs: number;
}

export function workedMs({ beforeMs, sinceMs }: Worked, untilMs: number): number {
  return beforeMs + Math.max(0, untilMs - sinceMs);
}

/** A call that has waited for an answer from elsewhere. */
type WaitedCall = Pick<ToolCall, "ordinal">;

/**
 * Begins the next stretch of a turn. Time in which the turn was suspended, waited for its next attempt or Cortex was
 * down does not count. A killed process records no end, so its stretch lasts until the last entry of the journal.
 */
export function nextStretch(
  before: Pick<Journal, "messages" | "toolCalls">,
  pinned: { readonly worked?: Worked; readonly waiting?: readonly WaitedCall[] } | undefined,
  nowMs: number,
): Worked {
  const worked = pinned?.worked;
  if (worked === undefined) return { beforeMs: 0, sinceMs: nowMs };
  // Users' messages, and results of calls that waited, may come at any time.
  const answers = before.messages.filter(({ role }) => role === "assistant").map(({ atMs }) => atMs);
  const calls = before.toolCalls.map((call) => lastMoved(call, pinned?.waiting ?? []));
  const lastMs = [...answers, ...calls].reduce((last, atMs) => Math.max(last, atMs), worked.sinceMs);
  return { beforeMs: workedMs(worked, lastMs), sinceMs: nowMs };
}

function lastMoved({ ordinal, startedAtMs, completedAtMs }: ToolCall, waited: readonly WaitedCall[]): number {
  return waited.some((call) => call.ordinal === ordinal) ? startedAtMs : (completedAtMs ?? startedAtMs);
}

/** Where the use of a day is counted. */
interface DayUse extends Pick<TurnPorts, "clock"> {
  readonly settings: Pick<TurnPorts["settings"], "config">;
  readonly store: {
    readonly turns: Pick<Store["turns"], "spentUsd" | "spentByUsd" | "usedSince">;
    readonly people: Pick<Store["people"], "get">;
  };
}

interface PaidWork {
  readonly persona: PersonaId;
  readonly principal: Principal;
  readonly permissions: () => Permissions;
  readonly profile: Pick<Profile, "backend">;
}

/** The answer that ends a turn whose budget for the day is used up; undefined: it may go on. */
export async function dayLimitReached(work: PaidWork, ports: DayUse): Promise<string | undefined> {
  const { persona, permissions, profile, principal } = work;
  if (profile.backend === "offline") return undefined; // it costs nothing
  const { store, settings, clock } = ports;
  const { timezone, usage } = settings.config();
  const sinceMs = dayStart(clock(), timezone);
  const spentUsd = await store.turns.spentUsd(persona, sinceMs);
  const { spendUsdPerDay } = permissions();
  if (spentUsd >= spendUsdPerDay) {
    return (
      `I stopped here: ${persona} has spent ${spentUsd.toFixed(2)} USD today. ` +
      `(Limit \`spendUsdPerDay\`: ${spendUsdPerDay}, in the persona's permissions.) Write again tomorrow, or raise the limit.`
    );
  }
  const reached = usageReached(await store.turns.usedSince(sinceMs), usage, persona);
  if (reached !== undefined) return `I stopped here: ${reached} Write again tomorrow, or raise the limit.`;
  if (!isOthers(principal)) return undefined;
  return (await budgetReached(principal, sinceMs, ports)) ?? shareReached(work, sinceMs, ports);
}

/** Of a person: what they cause, over all personas. */
async function budgetReached(
  principal: Principal,
  sinceMs: number,
  { store, settings }: DayUse,
): Promise<string | undefined> {
  const id = personIdOf(principal);
  if (id === undefined) return undefined;
  const person = await store.people.get(id);
  const { usdPerDay } = { ...settings.config().people.limits, ...person?.limits };
  if ((await store.turns.spentByUsd(principal, sinceMs)) < usdPerDay) return undefined;
  return `I stopped here: your budget for today is used up. (Limit \`usdPerDay\`: ${usdPerDay}, of ${principal}.) Write again tomorrow.`;
}

/** Everybody but the owner shares a part of each limit, so that the owner always has the rest. */
async function shareReached(
  { persona, permissions }: PaidWork,
  sinceMs: number,
  { store, settings }: DayUse,
): Promise<string | undefined> {
  const { usage, people } = settings.config();
  const { share } = people;
  const spentUsd = await store.turns.spentUsd(persona, sinceMs, { others: true });
  const { spendUsdPerDay } = permissions();
  if (spentUsd >= share * spendUsdPerDay) {
    return (
      "I stopped here: what others than the owner may use today is used up. " +
      `(Limit \`people.share\`: ${share} of \`spendUsdPerDay\`.) Write again tomorrow.`
    );
  }
  const used = await store.turns.usedSince(sinceMs, { others: true });
  const reached = reachedBy(used, sharedLimits(usage, share), persona);
  if (reached === undefined) return undefined;
  return (
    "I stopped here: what others than the owner may use today is used up. " +
    `(Limit \`people.share\`: ${share} of \`usage.${reached.setting}\`.) Write again tomorrow.`
  );
}

function sharedLimits(usage: UsageLimits, share: number): UsageLimits {
  const { callsPerDay, tokensPerDay, personaCallsPerDay, personaTokensPerDay } = usage;
  return {
    callsPerDay: share * callsPerDay,
    tokensPerDay: share * tokensPerDay,
    personaCallsPerDay: share * personaCallsPerDay,
    personaTokensPerDay: share * personaTokensPerDay,
  };
}

/** How often models may be asked in a day, at any price. */
interface UsageLimits {
  readonly callsPerDay: number;
  readonly tokensPerDay: number;
  readonly personaCallsPerDay: number;
  readonly personaTokensPerDay: number;
}

/** A limit that has been reached. */
export interface UsageReached {
  /** Who has used how much, as a sentence without its end. */
  readonly what: string;
  readonly setting: keyof UsageLimits;
  readonly limit: number;
}

/** Names the setting that is used up; undefined: models may be asked. Without a persona, only limits of the home count. */
export function usageReached(
  used: readonly ModelUse[],
  limits: UsageLimits,
  persona?: PersonaId,
): string | undefined {
  const reached = reachedBy(used, limits, persona);
  if (reached === undefined) return undefined;
  const { what, setting, limit } = reached;
  return `${what}. (Limit \`usage.${setting}\`: ${limit}, in cortex.json.)`;
}

function reachedBy(
  used: readonly ModelUse[],
  limits: UsageLimits,
  persona: PersonaId | undefined,
): UsageReached | undefined {
  const own = used.find((each) => each.persona === persona) ?? { persona, calls: 0, tokens: 0 };
  return ownReached(own, limits) ?? allReached(used, limits);
}

/** All limits that are used up: each persona's, then the home's. A limit of 0 is intended, and not reported. */
export function limitsReached(used: readonly ModelUse[], limits: UsageLimits): UsageReached[] {
  const reached = [...used.map((each) => ownReached(each, limits)), allReached(used, limits)];
  return reached.filter((each) => each !== undefined).filter(({ limit }) => limit > 0);
}

function ownReached({ persona, ...used }: ModelUse, limits: UsageLimits): UsageReached | undefined {
  if (persona === undefined) return undefined; // calls made by hooks
  return over(`${persona} has`, used, limits, ["personaCallsPerDay", "personaTokensPerDay"]);
}

function allReached(used: readonly ModelUse[], limits: UsageLimits): UsageReached | undefined {
  const all = { calls: sum(used.map(({ calls }) => calls)), tokens: sum(used.map(({ tokens }) => tokens)) };
  return over("all agents and hooks together have", all, limits, ["callsPerDay", "tokensPerDay"]);
}

function over(
  who: string,
  { calls, tokens }: Pick<ModelUse, "calls" | "tokens">,
  limits: UsageLimits,
  [ofCalls, ofTokens]: readonly [keyof UsageLimits, keyof UsageLimits],
): UsageReached | undefined {
  if (calls >= limits[ofCalls])
    return {
      what: `${who} made ${count(calls, "model call")} today`,
      setting: ofCalls,
      limit: limits[ofCalls],
    };
  if (tokens >= limits[ofTokens])
    return {
      what: `${who} used ${count(tokens, "token")} today`,
      setting: ofTokens,
      limit: limits[ofTokens],
    };
  return undefined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

const MAX_FOUND_LENGTH = 8_000;
/** Of the results of tools, if the model has said nothing about them. */
const MAX_RESULTS = 5;
const MAX_RESULT_LENGTH = 1_000;

/** What a stopped turn reports to the agent that gave the work: its texts, else the last results of its tools. */
export function foundSoFar(messages: readonly Message[], toolCalls: readonly ToolCall[]): string {
  const said = messages
    .filter(({ role, content }) => role === "assistant" && content.trim() !== "")
    .map(({ content }) => content.trim());
  const found =
    said.length > 0
      ? said
      : toolCalls
          .filter(({ status }) => status === "ok")
          .map(describeCall)
          .slice(-MAX_RESULTS);
  if (found.length === 0) return "No findings so far.";
  return `Found so far:\n\n${found.join("\n\n").slice(-MAX_FOUND_LENGTH).toWellFormed()}`;
}

function describeCall({ tool, params, result }: ToolCall): string {
  const { text } = result as unknown as ToolResult;
  return `${tool} ${canonicalJson(params)}:\n${text.slice(0, MAX_RESULT_LENGTH).toWellFormed()}`;
}

/**
 * How long an agent has to end after it was told to. Longer than the grace of a tool, which it may be waiting for, and
 * shorter than the broker waits for a run.
 */
export const GRACE_MS = 8_000;

export interface Watched {
  /** Aborts when the run does, or after too long without progress. */
  readonly signal: AbortSignal;
  /** Reports progress. */
  readonly touch: () => void;
  /** Stops the clock while a tool works: tools have time limits. */
  readonly pause: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly silenceMs: number;
  readonly graceMs?: number | undefined;
}

/**
 * Gives up a model that makes no progress, and an agent that does not end when told to: neither may hold up a session.
 * Undefined: it was aborted and has not ended. Rejects with `model_failed` if it fell silent.
 */
export async function watchSilence<T>(
  work: (watched: Watched) => Promise<T>,
  { signal, silenceMs, graceMs = GRACE_MS }: WatchOptions,
): Promise<T | undefined> {
  const silence = new AbortController();
  const stop = AbortSignal.any([signal, silence.signal]);
  const left = Promise.withResolvers<undefined>();
  let grace: NodeJS.Timeout | undefined;
  const beginGrace = (): void => void (grace = setTimeout(left.resolve, graceMs, undefined));
  stop.addEventListener("abort", beginGrace, { once: true });
  if (stop.aborted) beginGrace();

  let paused = 0;
  const timer = setTimeout(() => paused === 0 && silence.abort(), silenceMs);
  const touch = (): void => void timer.refresh();
  const pause = async <R>(tool: () => Promise<R>): Promise<R> => {
    paused++;
    try {
      return await tool();
    } finally {
      paused--;
      touch();
    }
  };
  const isSilent = (): boolean => silence.signal.aborted && !signal.aborted;
  try {
    const running = work({ signal: stop, touch, pause });
    running.catch(() => {}); // an abandoned run fails unheard
    const outcome = await Promise.race([running, left.promise]);
    if (isSilent()) throw wentSilent(silenceMs);
    return outcome;
  } catch (error) {
    throw isSilent() ? wentSilent(silenceMs) : error;
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    stop.removeEventListener("abort", beginGrace);
  }
}

function wentSilent(silenceMs: number): CortexError {
  return new CortexError("model_failed", `The model made no progress for ${silenceMs / 1000} s`, {
    hint: "Check the model server, or raise `limits.silenceMs` of the agent.",
    transient: true,
  });
}
