/**
 * Keeps a conversation within the model's window.
 *
 * Before the first model call of a run, a thread that nearly fills the window is compacted. If the model still says that
 * the conversation is too long, parts are left out step by step: first the older turns, then results of tools in this
 * turn. Each step is taken once, so a turn cannot loop; when nothing is left to try, it ends with an answer that says so.
 */
import type { Agent, Exchange } from "../agents/agent.ts";
import { CHARACTERS_PER_TOKEN, estimateTokens } from "../agents/estimate-tokens.ts";
import { CortexError } from "../model/errors.ts";
import { compactThread, type CompactPorts, splitThread } from "./compact.ts";
import { historyOf, isPartial, type Load, measure, readThread } from "./thread.ts";
import type { RunWork } from "./prepare.ts";
import type { SummaryWish } from "./summarize.ts";
import { callsOf, type ToolCall } from "../model/message.ts";
import type { ToolResult } from "../model/tool.ts";

/** How full the window may be when a run begins. The rest is for the run. */
export const FULL_SHARE = 0.85;
/** How much of the window is kept verbatim. */
export const KEPT_SHARE = 0.25;
/** The least that a compaction must gain. With less, the next turn would need another one. */
const MIN_GAIN_SHARE = 0.1;

/** Who makes room, and how its model is asked. */
interface RoomMaker extends CompactPorts {
  readonly agent: Agent;
  readonly request: SummaryWish["request"];
}

/** The work, and what the model gets of its own turn. */
export interface Fitted {
  readonly work: RunWork;
  readonly current: Exchange;
  readonly tried: Tried;
}

interface Tried {
  readonly compacted: boolean;
  /** The number of messages when the results were shortened. */
  readonly shortenedAt: number;
  /** The answer that ends the turn: nothing is left to try. */
  readonly end?: string;
}

/** Before the first model call. */
export async function makeRoom(given: RunWork, maker: RoomMaker): Promise<Fitted> {
  const work = isPartial(given.thread) ? await withWholeThread(given, maker) : given;
  const fitted = { work, current: work.journal, tried: { compacted: false, shortenedAt: -1 } };
  const { context } = maker.agent;
  if (context === undefined) return fitted;
  const load = loadOf(work);
  const window = await context.window(work.profile);
  if (load.tokens <= window * FULL_SHARE) return fitted;
  const room = (window * load.estimated) / load.tokens;
  const split = splitThread(work.thread, room * KEPT_SHARE);
  const gained = sizeOf(...split.older);
  if (!hasTurns(split.older) || gained < room * MIN_GAIN_SHARE) return fitted;
  const compacted = await compactThread(
    work,
    split,
    { ...maker, context, room, isPatient: isFirst(work) },
    maker,
  );
  return { ...fitted, work: compacted, tried: { compacted: true, shortenedAt: -1 } };
}

/** After the model has rejected the conversation as too long. */
export async function makeMoreRoom({ work, tried }: Fitted, maker: RoomMaker): Promise<Fitted> {
  const { context } = maker.agent;
  const load = loadOf(work);
  // What was just rejected does not fit, whatever the window is said to be.
  const room = Math.min(load.estimated, (await context?.window(work.profile)) ?? load.estimated);
  const split = splitThread(work.thread, tried.compacted ? 0 : room * KEPT_SHARE);
  let next = work;
  if (context !== undefined && hasTurns(split.older)) {
    next = await compactThread(work, split, { ...maker, context, room, isPatient: isFirst(work) }, maker);
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

/** A thread that was read in part is longer than the window: compacting needs all of it. */
async function withWholeThread(work: RunWork, { store }: RoomMaker): Promise<RunWork> {
  const thread = await readThread(work.claim.parent, store);
  return { ...work, thread, history: historyOf(thread) };
}

export function isOverflow(error: unknown): boolean {
  return error instanceof CortexError && error.code === "context_overflow";
}

function loadOf({ system, tools, thread, journal }: RunWork): Load {
  return measure({ system, tools: [...tools.values()], thread, current: journal });
}

function sizeOf(...exchanges: readonly Exchange[]): number {
  return estimateTokens({ system: "", exchanges });
}

/** A summary alone cannot be summarised further. */
function hasTurns(older: ReturnType<typeof splitThread>["older"]): boolean {
  return older.some(({ turn }) => turn.type === "normal");
}

/** A model that fails at the summary would fail at the turn: it is asked again before the outline is used. */
function isFirst({ claim }: RunWork): boolean {
  return claim.attempt === 1;
}

const TOO_LONG =
  "I stopped here: this message and the material I read for it exceed my context window, even without earlier messages. " +
  "Split the message, or use a profile with a larger `contextWindow`.";

/** The length to which results are cut that the model has already used, in characters. */
export const OLD_RESULT_LENGTH = 300;
/** The share of the window for results that the model has not seen yet. */
const NEW_RESULTS_SHARE = 0.25;
const NOTE = "\n(Truncated: the conversation exceeded the context window.)";

/** A turn with shorter results, for the model only: the ledger keeps them in full. */
export function shortenResults({ messages, toolCalls }: Exchange, room: number): Exchange {
  const newest = messages.findLast((message) => callsOf(message).length > 0);
  const newestCount = newest === undefined ? 0 : callsOf(newest).length;
  const total = messages.flatMap(callsOf).length;
  const newLength = (room * CHARACTERS_PER_TOKEN * NEW_RESULTS_SHARE) / Math.max(1, newestCount);
  return {
    messages,
    toolCalls: toolCalls.map((call) =>
      shorten(call, call.ordinal < total - newestCount ? OLD_RESULT_LENGTH : newLength),
    ),
  };
}

function shorten(call: ToolCall, maxLength: number): ToolCall {
  const result = call.result as ToolResult | undefined;
  if (result === undefined || result.text.length <= maxLength) return call;
  const text = result.text.slice(0, Math.ceil(maxLength)).toWellFormed() + NOTE;
  return { ...call, result: { ...result, text } };
}
