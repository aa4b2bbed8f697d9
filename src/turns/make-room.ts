/**
 * Keeps a conversation within the model's window.
 *
 * Before the first call of a run, a thread that nearly fills the window is compacted. Where a model says that it
 * is too long all the same, what can be left out is left out, step by step: first the older turns, then what
 * tools have said in this one. Each step is taken once for what is there, so a turn cannot go round in circles;
 * when nothing is left to try, it ends with an answer that says so.
 */
import type { Agent, Exchange } from "../agents/agent.ts";
import { estimateTokens } from "../agents/estimate-tokens.ts";
import { CortexError } from "../model/errors.ts";
import { compact, type CompactPorts, splitThread } from "./compact.ts";
import { type Load, measure } from "./measure.ts";
import type { Work } from "./prepare.ts";
import { shortenResults } from "./shorten-results.ts";
import type { SummaryParts } from "./summarize.ts";
import { historyOf, isPartial, readThread } from "./thread.ts";

/** How full the window may be when a run begins. The rest is for what the run brings. */
export const FULL_SHARE = 0.85;
/** How much of the window is kept word for word. */
export const KEPT_SHARE = 0.25;
/** What a compaction must gain. One that gains less would be due again with the next turn. */
const MIN_GAIN_SHARE = 0.1;

interface RoomParts extends CompactPorts {
  readonly agent: Agent;
  readonly request: SummaryParts["request"];
}

/** The work, and what of its own turn the model is given. */
export interface Fitted {
  readonly work: Work;
  readonly current: Exchange;
  readonly tried: Tried;
}

interface Tried {
  readonly compacted: boolean;
  /** How many messages the turn had when its results were shortened. */
  readonly shortenedAt: number;
  /** Nothing more can be done: this ends the turn. */
  readonly end?: string;
}

/** Before the first call of the model. */
export async function makeRoom(given: Work, parts: RoomParts): Promise<Fitted> {
  const work = isPartial(given.thread) ? await withWholeThread(given, parts) : given;
  const fitted = { work, current: work.journal, tried: { compacted: false, shortenedAt: -1 } };
  const { context } = parts.agent;
  if (context === undefined) return fitted;
  const load = loadOf(work);
  const window = await context.window(work.profile);
  if (load.tokens <= window * FULL_SHARE) return fitted;
  const room = (window * load.estimated) / load.tokens;
  const split = splitThread(work.thread, room * KEPT_SHARE);
  const gained = sizeOf(...split.older);
  if (!hasTurns(split.older) || gained < room * MIN_GAIN_SHARE) return fitted;
  const compacted = await compact(work, split, { ...parts, context, room, isPatient: isFirst(work) }, parts);
  return { ...fitted, work: compacted, tried: { compacted: true, shortenedAt: -1 } };
}

/** After the model has said that it was given too much. */
export async function makeMoreRoom({ work, tried }: Fitted, parts: RoomParts): Promise<Fitted> {
  const { context } = parts.agent;
  const load = loadOf(work);
  // What has just been refused is more than there is room for, whatever the window is said to be.
  const room = Math.min(load.estimated, (await context?.window(work.profile)) ?? load.estimated);
  const split = splitThread(work.thread, tried.compacted ? 0 : room * KEPT_SHARE);
  let next = work;
  if (context !== undefined && hasTurns(split.older)) {
    next = await compact(work, split, { ...parts, context, room, isPatient: isFirst(work) }, parts);
    if (!tried.compacted) return { work: next, current: next.journal, tried: { ...tried, compacted: true } };
  }
  const { messages } = work.journal;
  const current = shortenResults(work.journal, room);
  const isShorter = next !== work || sizeOf(current) < sizeOf(work.journal);
  const isSpent = !isShorter || tried.shortenedAt === messages.length;
  return {
    work: next,
    current,
    tried: { compacted: true, shortenedAt: messages.length, ...(isSpent && { end: TOO_LONG }) },
  };
}

/** A thread of which only the end was read is longer than the window: now all of it is needed. */
async function withWholeThread(work: Work, { store }: RoomParts): Promise<Work> {
  const thread = await readThread(work.claim.parent, store);
  return { ...work, thread, history: historyOf(thread) };
}

export function isOverflow(error: unknown): boolean {
  return error instanceof CortexError && error.code === "context_overflow";
}

function loadOf({ system, tools, thread, journal }: Work): Load {
  return measure({ system, tools: [...tools.values()], thread, current: journal });
}

function sizeOf(...exchanges: readonly Exchange[]): number {
  return estimateTokens({ system: "", exchanges });
}

/** A summary alone cannot be summed up any further. */
function hasTurns(older: ReturnType<typeof splitThread>["older"]): boolean {
  return older.some(({ turn }) => turn.type === "normal");
}

/** A model that fails at the summary would have failed at the turn: that is tried again before it is done without. */
function isFirst({ claim }: Work): boolean {
  return claim.attempt === 1;
}

const TOO_LONG =
  "I stopped here: this message, and what I have read for it, is longer than my model takes, also after all else was left out. " +
  "Give me less at once, or use a profile with a larger `contextWindow`.";
