/**
 * A deterministic stand-in for a model: no network, and the same answer to the same question. For demos, dry runs and
 * tests, and for the first start, when no model is configured. It never pretends to be more.
 */
import { type AssistantBody, type Block, type CallBlock, callsOf } from "../../model/message.ts";
import type { Profile } from "../../model/profile.ts";
import { truncate } from "../../model/truncate.ts";
import { NO_USAGE, type Usage } from "../../model/usage.ts";
import type { Exchange, Model, Question } from "../agent.ts";
import { blocksLength, CHARACTERS_PER_TOKEN, estimateTokens, tokensIn } from "../estimate-tokens.ts";
import { choosePlay } from "./choose-play.ts";
import { createFaultCounter, type Fault, type PlannedAnswer, applyFault } from "./fault.ts";
import type { Script } from "./script.ts";
import type { WantedCall } from "./tool-lines.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { answerUnscripted, describeResults, type LedgerSearch, NOTICE } from "./unscripted.ts";

export interface OfflineModelOptions {
  /** Finds what those may know whom the session speaks to. */
  readonly search: (text: string, limit: number, session: SessionKey) => ReturnType<LedgerSearch>;
  /** Resolves after the delay, or as soon as the signal aborts. */
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Throws `script_invalid`. By default the file is read, and reread when it changes. */
  readonly readScript?: (file: string) => Promise<Script>;
}

/** For profiles without a `contextWindow`. */
export const DEFAULT_WINDOW = 128_000;

const NOTHING: Exchange = { messages: [], toolCalls: [] };

export function createOfflineModel({
  search,
  delay,
  readScript = scriptFiles(),
}: OfflineModelOptions): Model {
  const isDue = createFaultCounter();
  return {
    window: async (profile) => offlineWindow(profile),
    async ask(question) {
      const { profile, exchanges, signal } = question;
      if (question.purpose === "summary")
        return toBody(question, { text: sumUp(exchanges, offlineWindow(profile)), calls: [] });
      const script = profile.script === undefined ? undefined : await readScript(profile.script);
      const next = await chooseNext(script, question, search);
      if (next.delayMs > 0 && !signal.aborted) await delay(next.delayMs, signal);
      if (signal.aborted) return toBody(question, { text: "", calls: [] });

      const calls = withIds(next.calls, exchanges.at(-1) ?? NOTHING);
      const answer: PlannedAnswer = { text: next.text, calls };
      const hasFault = next.fault !== undefined && isDue(next.fault, next.place);
      const outcome = hasFault ? applyFault(answer, next.fault) : ({ kind: "answer", answer } as const);
      const text = streamText(outcome.kind === "answer" ? outcome.answer.text : outcome.text, question);
      if (signal.aborted) return toBody(question, { text, calls: [] });
      if (outcome.kind === "failure") throw outcome.error;
      return toBody(question, outcome.answer);
    },
  };
}

export function offlineWindow({ contextWindow = DEFAULT_WINDOW }: Profile): number {
  return contextWindow;
}

interface Next {
  readonly text: string;
  readonly calls: readonly WantedCall[];
  readonly delayMs: number;
  readonly fault: Fault | undefined;
  /** Identifies the play within the turn. */
  readonly place: string;
}

async function chooseNext(
  script: Script | undefined,
  { exchanges, session, agent }: Question,
  search: OfflineModelOptions["search"],
): Promise<Next> {
  const current = exchanges.at(-1) ?? NOTHING;
  const unscripted = { delayMs: 0, fault: undefined, place: "" };
  const choice = script === undefined ? { kind: "none" as const } : await choosePlay(script, current, agent);
  switch (choice.kind) {
    case "none":
      return {
        ...unscripted,
        ...(await answerUnscripted(exchanges, (text, limit) => search(text, limit, session))),
      };
    case "over":
      return { ...unscripted, text: `${describeResults(current.toolCalls)}\n\n${NOTICE}`, calls: [] };
    case "play": {
      const { play, entry, number } = choice;
      const place = `${session} ${current.messages[0]?.id} ${entry} ${number}`;
      return { text: play.say, calls: play.calls, delayMs: play.delayMs, fault: play.fault, place };
    }
  }
}

/** Ids that are unique in the thread, and the same for the same question. */
function withIds(calls: readonly WantedCall[], { messages }: Exchange): CallBlock[] {
  const before = messages.flatMap(callsOf).length;
  const turn = messages[0]?.id.replaceAll(/[^\w-]/g, "_") ?? "";
  return calls.map(({ tool, args }, at) => {
    return { type: "toolCall", id: `call_${turn}_${before + at}`, name: tool, arguments: args };
  });
}

function toBody({ signal, ...question }: Question, { text, calls }: PlannedAnswer): AssistantBody {
  const blocks = text === "" ? calls : [{ type: "text", text } as const, ...calls];
  const stop = signal.aborted ? "aborted" : calls.length > 0 ? "tools" : "stop";
  const usage = estimateUsage(question, blocks);
  return { blocks, stop, provider: "offline", model: "offline", usage, costUsd: 0 };
}

/** The script reader is loaded with the first script. */
function scriptFiles(): (file: string) => Promise<Script> {
  let read: ((file: string) => Promise<Script>) | undefined;
  return async (file) => {
    const { createScriptReader } = await import("./script.ts");
    read ??= createScriptReader();
    return read(file);
  };
}

/** Close enough to make limits and totals behave as with a real model. */
export function estimateUsage(
  { system, exchanges }: Pick<Question, "system" | "exchanges">,
  answer: readonly Block[],
): Usage {
  return {
    ...NO_USAGE,
    input: estimateTokens({ system, exchanges }),
    output: tokensIn(blocksLength(answer)),
  };
}

/** The share of the context window that a summary may take. */
const SUMMARY_SHARE = 0.1;
const MAX_LINE_LENGTH = 100;

/** The newest lines of the conversation, each shortened: all that is possible without understanding. */
export function sumUp(exchanges: readonly Exchange[], window: number): string {
  const text = exchanges.flatMap(({ messages }) => messages.map(({ content }) => content)).join("\n");
  let room = window * CHARACTERS_PER_TOKEN * SUMMARY_SHARE;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const kept: string[] = [];
  for (const line of lines.toReversed()) {
    const short = truncate(line.trim(), MAX_LINE_LENGTH);
    room -= short.length + 1;
    if (room < 0) break;
    kept.unshift(short);
  }
  return ["Summary by the offline model (shortened lines only):", ...kept].join("\n");
}

const MIN_CHUNK_LENGTH = 24;
/** Roughly the most deltas per answer, however long the text is. */
export const MAX_CHUNKS = 200;

/** Streams a text in chunks, as a model would. Returns the part that was streamed before an abort. */
export function streamText(text: string, question: Pick<Question, "onDelta" | "signal">): string {
  let end = 0;
  for (const chunk of chunks(text)) {
    if (question.signal.aborted) break;
    question.onDelta({ kind: "text", text: chunk });
    end += chunk.length;
  }
  return text.slice(0, end);
}

/** Chunks of similar length that end at a word boundary if possible. */
export function* chunks(text: string): Generator<string> {
  const length = Math.max(MIN_CHUNK_LENGTH, Math.ceil(text.length / MAX_CHUNKS));
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + length, text.length);
    const last = Math.min(end + length, text.length);
    while (end < last && !isSpace(text.charAt(end - 1))) end++;
    // Do not split a surrogate pair.
    if (isHighSurrogate(text.charCodeAt(end - 1)) && end < text.length) end++;
    yield text.slice(start, end);
    start = end;
  }
}

function isSpace(character: string): boolean {
  return character === " " || character === "\n";
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
