/**
 * A model without a model: no network, no chance, the same words for the same question. For demos, dry runs
 * and tests, and for the first start, when nothing else is configured. It never pretends to be more.
 */
import { type AssistantBody, type CallBlock, callsOf } from "../../model/message.ts";
import type { Profile } from "../../model/profile.ts";
import type { Exchange, Model, Question } from "../agent.ts";
import { choosePlay } from "./choose-play.ts";
import { converse, describeResults, type LedgerSearch, NOTICE } from "./converse.ts";
import type { Draft, WantedCall } from "./draft.ts";
import { estimateUsage } from "./estimate-usage.ts";
import { createFaultCounter, type Fault, spoil } from "./fault.ts";
import type { Script } from "./script.ts";
import { say } from "./stream.ts";
import { sumUp } from "./sum-up.ts";

export interface OfflineParts {
  readonly search: LedgerSearch;
  /** Resolves after that time, or as soon as the signal aborts. */
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Throws `script_invalid`. By default the file is read, again whenever it has changed. */
  readonly readScript?: (file: string) => Promise<Script>;
}

/** For profiles that do not say how much their model takes. */
export const DEFAULT_WINDOW = 128_000;

const NOTHING: Exchange = { messages: [], toolCalls: [] };

export function createOfflineModel({ search, delay, readScript = readFiles() }: OfflineParts): Model {
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

      const draft: Draft = { text: next.text, calls: withIds(next.calls, exchanges.at(-1) ?? NOTHING) };
      const isSpoilt = next.fault !== undefined && isDue(next.fault, next.place);
      const outcome = isSpoilt ? spoil(draft, next.fault) : ({ kind: "answer", draft } as const);
      const text = say(outcome.kind === "answer" ? outcome.draft.text : outcome.text, question);
      if (signal.aborted) return toBody(question, { text, calls: [] });
      if (outcome.kind === "failure") throw outcome.error;
      return toBody(question, outcome.draft);
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
  /** Names the play within the turn. */
  readonly place: string;
}

async function chooseNext(
  script: Script | undefined,
  { exchanges, session, agent }: Question,
  search: LedgerSearch,
): Promise<Next> {
  const current = exchanges.at(-1) ?? NOTHING;
  const unscripted = { delayMs: 0, fault: undefined, place: "" };
  const choice = script === undefined ? { kind: "none" as const } : await choosePlay(script, current, agent);
  switch (choice.kind) {
    case "none":
      return { ...unscripted, ...(await converse(exchanges, search)) };
    case "over":
      return { ...unscripted, text: `${describeResults(current.toolCalls)}\n\n${NOTICE}`, calls: [] };
    case "play": {
      const { play, entry, number } = choice;
      const place = `${session} ${current.messages[0]?.id} ${entry} ${number}`;
      return { text: play.say, calls: play.calls, delayMs: play.delayMs, fault: play.fault, place };
    }
  }
}

/** Ids that no other call of the thread has, and that are the same when the question is. */
function withIds(calls: readonly WantedCall[], { messages }: Exchange): CallBlock[] {
  const before = messages.flatMap(callsOf).length;
  const turn = messages[0]?.id.replaceAll(/[^\w-]/g, "_") ?? "";
  return calls.map(({ tool, args }, at) => {
    return { type: "toolCall", id: `call_${turn}_${before + at}`, name: tool, arguments: args };
  });
}

function toBody({ signal, ...question }: Question, { text, calls }: Draft): AssistantBody {
  const blocks = text === "" ? calls : [{ type: "text", text } as const, ...calls];
  const stop = signal.aborted ? "aborted" : calls.length > 0 ? "tools" : "stop";
  const usage = estimateUsage(question, blocks);
  return { blocks, stop, provider: "offline", model: "offline", usage, costUsd: 0 };
}

/** Loads what reads scripts when the first one is to be read. */
function readFiles(): (file: string) => Promise<Script> {
  let read: ((file: string) => Promise<Script>) | undefined;
  return async (file) => {
    const { createScriptReader } = await import("./read-script.ts");
    read ??= createScriptReader();
    return read(file);
  };
}
