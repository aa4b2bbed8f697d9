/**
 * Turns the events of a session into pieces of a transcript; it knows nothing about terminals.
 *
 * The text of an answer arrives twice: as deltas, without any guarantee, and whole when the message is complete. Both are
 * compared with what was already shown, so deltas that arrive late, twice or never do not change the final text.
 */
import { REPLY_TOOL, SILENCE } from "../model/reply-tool.ts";
import type { SessionEvent } from "../client/follow-stream.ts";
import type { Format, Line, Span } from "../terminal/spans.ts";
import { harmless } from "../terminal/text.ts";
import { describeArguments, type CallSummary, toolCard } from "./tool-card.ts";
import type { Piece } from "../terminal/transcript.ts";

export interface ChatView {
  readonly state: "idle" | "working" | "waiting";
  /** Whether the conversation is being compacted. */
  readonly isCompacting: boolean;
  /** What it waits for: an answer, or delegated work (`child`). */
  readonly wait: string;
  /** The text of one run, all its messages concatenated. */
  readonly words: Words;
  /** Running tool calls, by call id. */
  readonly calls: Readonly<Record<string, CallSummary & { readonly reply?: string }>>;
  /** Running relays, with the last line shown for each. */
  readonly relays: Readonly<Record<string, string>>;
}

interface Words {
  readonly run: string;
  readonly shown: string;
  readonly streamed: string;
  readonly completed: string;
}

interface Shown {
  readonly view: ChatView;
  /** To append to the transcript. */
  readonly pieces: readonly Piece[];
}

const NO_WORDS: Words = { run: "", shown: "", streamed: "", completed: "" };
export const IDLE: ChatView = {
  state: "idle",
  isCompacting: false,
  wait: "",
  words: NO_WORDS,
  calls: {},
  relays: {},
};

const END: Piece = { kind: "end" };

export function showEvent(view: ChatView, event: SessionEvent): Shown {
  switch (event.type) {
    case "run.state":
      return showState(view, event);
    case "message.delta":
      return event["kind"] === "text" ? addWords(view, event) : nothing(view);
    case "message.completed":
      return event["role"] === "assistant" ? completeMessage(view, event) : nothing(view);
    case "tool.started":
      return startCall(view, event);
    case "tool.finished":
      return endCall(view, event);
    case "relay.changed":
      return showRelay(view, event);
    case "stream.reset":
      return {
        view,
        pieces: [note("Some events are missing here; run `cortex log` to see them.")],
      };
    default:
      return nothing(view);
  }
}

/** Lines from the chat, not from the agent. */
export function note(text: string): Piece {
  return { kind: "lines", lines: linesOf(text, "dim") };
}

/** A complete Markdown text. */
export function wholeText(text: string): readonly Piece[] {
  return [END, { kind: "words", text: harmless(text.trimEnd()) }, END];
}

/** A typed message, set off from what precedes it. */
export function typedLines(text: string): Piece {
  const [first = "", ...others] = harmless(text).split("\n");
  const mark: Span = { text: "› ", format: ["bold", "cyan"] };
  const below = [{ text: "  " }];
  const lines = others.map((line) => ({ first: below, next: below, spans: [{ text: line }] }));
  const typed = { first: [mark], next: below, spans: [{ text: first }] };
  return { kind: "lines", lines: [{ spans: [] }, typed, ...lines] };
}

function showState(view: ChatView, event: SessionEvent): Shown {
  if (event["state"] === "suspended")
    return nothing({ ...view, state: "waiting", isCompacting: false, wait: textOf(event["wait"]) });
  if (event["state"] !== "idle")
    return nothing({ ...view, state: "working", isCompacting: event["state"] === "compacting" });
  const ended: ChatView = { ...view, state: "idle", isCompacting: false, calls: {} };
  if (event["outcome"] === "completed") return nothing(ended);
  const what = event["outcome"] === "aborted" ? "Aborted." : "The attempt failed.";
  return { view: ended, pieces: [END, note(what)] };
}

/**
 * Skips deltas that do not continue the shown text: the whole message comes later. Also holds back text that may turn
 * out to be the marker of a silent answer.
 */
function addWords(view: ChatView, event: SessionEvent): Shown {
  const words = wordsOf(view, event);
  const streamed = words.streamed + harmless(textOf(event["text"]));
  const mayBeSilent = SILENCE.startsWith(streamed.slice(words.completed.length).trim());
  if (mayBeSilent || !streamed.startsWith(words.shown))
    return nothing({ ...view, words: { ...words, streamed } });
  const text = streamed.slice(words.shown.length);
  return {
    view: { ...view, words: { ...words, streamed, shown: streamed } },
    pieces: [{ kind: "words", text }],
  };
}

function completeMessage(view: ChatView, event: SessionEvent): Shown {
  const words = wordsOf(view, event);
  const content = harmless(textOf(event["content"]));
  const completed = words.completed + content;
  if (content.trim() === SILENCE)
    return nothing({ ...view, words: { ...words, completed, shown: completed } });
  if (words.shown.length > completed.length && words.shown.startsWith(completed)) {
    return nothing({ ...view, words: { ...words, completed } }); // the next message is being written already
  }
  const continues = completed.startsWith(words.shown);
  const text = continues ? completed.slice(words.shown.length) : content;
  const where = `run \`cortex show ${textOf(event["turnId"])}\` to see all of it.`;
  return {
    view: { ...view, words: { ...words, completed, shown: completed } },
    pieces: [
      ...(continues ? [] : [END]),
      { kind: "words", text },
      END,
      ...(event["truncated"] === true ? [note(`The message is truncated; ${where}`)] : []),
    ],
  };
}

function startCall(view: ChatView, event: SessionEvent): Shown {
  const { name, args } = event;
  const call = {
    name: harmless(textOf(name)),
    args: describeArguments(args),
    ...(name === REPLY_TOOL ? { reply: replyIn(event) } : {}),
  };
  return nothing({ ...view, calls: { ...view.calls, [textOf(event["callId"])]: call } });
}

/** An interim reply: the agent keeps working. */
function replyIn({ args, turnId }: SessionEvent): string {
  if (args === null) return `The reply is too long to show here; run \`cortex show ${textOf(turnId)}\`.`;
  return typeof args === "object" && "content" in args ? textOf(args.content) : "";
}

function endCall(view: ChatView, event: SessionEvent): Shown {
  const id = textOf(event["callId"]);
  const { [id]: call = { name: harmless(textOf(event["name"])), args: "" }, ...calls } = view.calls;
  const { status, durationMs, result } = event;
  // The reply itself is shown instead of the call.
  if ("reply" in call && status === "ok") return { view: { ...view, calls }, pieces: wholeText(call.reply) };
  const lines = toolCard(call, {
    status: textOf(status),
    durationMs: typeof durationMs === "number" ? durationMs : undefined,
    result: textOf(result),
  });
  return { view: { ...view, calls }, pieces: [END, { kind: "lines", lines }] };
}

/** One line per step: the agent and the cost so far. */
function showRelay(view: ChatView, event: SessionEvent): Shown {
  const id = textOf(event["relayId"]);
  const { agent, stage, step, costUsd, state } = event;
  const { [id]: before, ...others } = view.relays;
  if (state !== "running" && state !== "waiting") return nothing({ ...view, relays: others });
  const place = `${textOf(agent)}${typeof stage === "string" ? `:${stage}` : ""}`;
  const cost = typeof costUsd === "number" ? ` · $${costUsd.toFixed(4)}` : "";
  const line = `⇢ ${id} · step ${Number(step)} · ${place}${cost}${state === "waiting" ? " · waiting" : ""}`;
  const after = { ...view, relays: { ...others, [id]: line } };
  return line === before ? nothing(after) : { view: after, pieces: [note(line)] };
}

function wordsOf({ words }: ChatView, event: SessionEvent): Words {
  const run = textOf(event["runId"]);
  return words.run === run ? words : { ...NO_WORDS, run };
}

function linesOf(text: string, format: Format): Line[] {
  return harmless(text)
    .split("\n")
    .map((line) => {
      const [text = ""] = /^ */.exec(line) ?? [];
      const spaces = [{ text }];
      return { first: spaces, next: spaces, spans: [{ text: line.trimStart(), format }] };
    });
}

function nothing(view: ChatView): Shown {
  return { view, pieces: [] };
}

function textOf(value: SessionEvent[string]): string {
  return typeof value === "string" ? value : "";
}
