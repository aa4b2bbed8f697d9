/**
 * What a chat shows of what happens in its session. It knows no terminal: events in, text out.
 *
 * The words of an answer come twice: as they are written, where nothing is promised, and whole when the
 * message is complete. What was shown of a run is compared with both, so that words that come late, twice
 * or not at all make no difference to what stands there in the end.
 */
import type { StreamEvent } from "./follow-stream.ts";
import type { Style } from "./print.ts";
import { duration, harmless, shorten } from "./text.ts";

export interface ChatView {
  readonly state: "idle" | "working" | "waiting";
  /** Whether the last line that was shown is complete. */
  readonly lineEnded: boolean;
  /** The words of one run, all its messages after each other. */
  readonly words: Words;
  /** The tools that are at work, by the id of their call. */
  readonly calls: Readonly<Record<string, Call>>;
  /** The relays that are under way, with what was said of each last. */
  readonly relays: Readonly<Record<string, string>>;
}

interface Words {
  readonly run: string;
  readonly shown: string;
  readonly streamed: string;
  readonly completed: string;
}

interface Call {
  readonly name: string;
  readonly args: string;
}

export interface Shown {
  readonly view: ChatView;
  /** To be added to what was shown so far; need not end with its line. */
  readonly text: string;
}

const NO_WORDS: Words = { run: "", shown: "", streamed: "", completed: "" };
export const IDLE: ChatView = { state: "idle", lineEnded: true, words: NO_WORDS, calls: {}, relays: {} };

const MAX_ARGUMENTS_LENGTH = 80;

export function showEvent(view: ChatView, event: StreamEvent, style: Style): Shown {
  switch (event.type) {
    case "run.state":
      return showState(view, event, style);
    case "message.delta":
      return event["kind"] === "text" ? addWords(view, event) : nothing(view);
    case "message.completed":
      return event["role"] === "assistant" ? completeMessage(view, event, style) : nothing(view);
    case "tool.started":
      return startCall(view, event);
    case "tool.finished":
      return endCall(view, event, style);
    case "relay.changed":
      return showRelay(view, event, style);
    case "stream.reset":
      return showNote(view, "Some of what happened meanwhile is not shown here; `cortex log` has it.", style);
    default:
      return nothing(view);
  }
}

/** A line that is not the agent's. */
export function showNote(view: ChatView, note: string, style: Style): Shown {
  return showLine(view, style("dim", harmless(note)));
}

/** What came of something that others did. */
export function showAnswer(view: ChatView, text: string): Shown {
  return showLine(view, harmless(text.trimEnd()));
}

/** What stands before the line that is being typed. */
export function promptOf({ state, calls }: ChatView): string {
  switch (state) {
    case "idle":
      return "› ";
    case "waiting":
      return "(waits for an answer) › ";
    case "working":
      return `(${namesOf(calls) || "working"}) › `;
  }
}

function showState(view: ChatView, event: StreamEvent, style: Style): Shown {
  if (event["state"] === "suspended") return nothing({ ...view, state: "waiting" });
  if (event["state"] !== "idle") return nothing({ ...view, state: "working" });
  const ended: ChatView = { ...view, state: "idle", calls: {} };
  if (event["outcome"] === "completed") return nothing(ended);
  return showNote(ended, event["outcome"] === "aborted" ? "Aborted." : "The attempt failed.", style);
}

/** Words that do not go on where the ones before ended are left out: the whole message comes later. */
function addWords(view: ChatView, event: StreamEvent): Shown {
  const words = wordsOf(view, event);
  const streamed = words.streamed + harmless(textOf(event["text"]));
  if (!streamed.startsWith(words.shown)) return nothing({ ...view, words: { ...words, streamed } });
  const text = streamed.slice(words.shown.length);
  return showText({ ...view, words: { ...words, streamed, shown: streamed } }, text);
}

function completeMessage(view: ChatView, event: StreamEvent, style: Style): Shown {
  const words = wordsOf(view, event);
  const content = harmless(textOf(event["content"]));
  const completed = words.completed + content;
  if (words.shown.length > completed.length && words.shown.startsWith(completed)) {
    return nothing({ ...view, words: { ...words, completed } }); // the next message is being written already
  }
  const continues = completed.startsWith(words.shown);
  const text = continues ? completed.slice(words.shown.length) : content;
  const after: ChatView = { ...view, words: { ...words, completed, shown: completed } };
  const where = `\`cortex show ${textOf(event["turnId"])}\` has all of it.`;
  return inTurn(
    after,
    continues ? nothing : endLine,
    (view) => showText(view, text),
    content === "" ? nothing : endLine,
    event["truncated"] === true
      ? (view) => showNote(view, `It is longer than this; ${where}`, style)
      : nothing,
  );
}

function startCall(view: ChatView, event: StreamEvent): Shown {
  const args = shorten(harmless(JSON.stringify(event["args"] ?? {})), MAX_ARGUMENTS_LENGTH);
  const call = { name: harmless(textOf(event["name"])), args };
  return nothing({ ...view, calls: { ...view.calls, [textOf(event["callId"])]: call } });
}

/** One line for each call: whether it worked, with what it was called, how long it took. */
function endCall(view: ChatView, event: StreamEvent, style: Style): Shown {
  const id = textOf(event["callId"]);
  const { [id]: call = { name: harmless(textOf(event["name"])), args: "" }, ...calls } = view.calls;
  const { status, durationMs } = event;
  const mark = status === "ok" ? style("green", "✓") : style("red", "✗");
  const outcome = status === "ok" ? "" : ` ${textOf(status)}`;
  const took = typeof durationMs === "number" ? ` ${duration(durationMs)}` : "";
  return showLine(
    { ...view, calls },
    `${mark} ${call.name} ${style("dim", `${call.args}${outcome}${took}`)}`,
  );
}

/** One line for each step: who is at work, and what it has cost so far. */
function showRelay(view: ChatView, event: StreamEvent, style: Style): Shown {
  const id = textOf(event["relayId"]);
  const { agent, stage, step, costUsd, state } = event;
  const { [id]: before, ...others } = view.relays;
  if (state !== "running" && state !== "waiting") return nothing({ ...view, relays: others });
  const place = `${textOf(agent)}${typeof stage === "string" ? `:${stage}` : ""}`;
  const cost = typeof costUsd === "number" ? ` · $${costUsd.toFixed(4)}` : "";
  const line = `⇢ ${id} · step ${Number(step) + 1} · ${place}${cost}${state === "waiting" ? " · waits" : ""}`;
  const after = { ...view, relays: { ...others, [id]: line } };
  return line === before ? nothing(after) : showNote(after, line, style);
}

function wordsOf({ words }: ChatView, event: StreamEvent): Words {
  const run = textOf(event["runId"]);
  return words.run === run ? words : { ...NO_WORDS, run };
}

function showText(view: ChatView, text: string): Shown {
  return text === "" ? nothing(view) : { view: { ...view, lineEnded: text.endsWith("\n") }, text };
}

function showLine(view: ChatView, line: string): Shown {
  const { text } = endLine(view);
  return { view: { ...view, lineEnded: true }, text: `${text}${line}\n` };
}

function endLine(view: ChatView): Shown {
  return view.lineEnded ? nothing(view) : { view: { ...view, lineEnded: true }, text: "\n" };
}

function inTurn(view: ChatView, ...steps: readonly ((view: ChatView) => Shown)[]): Shown {
  let text = "";
  for (const step of steps) {
    const shown = step(view);
    view = shown.view;
    text += shown.text;
  }
  return { view, text };
}

function nothing(view: ChatView): Shown {
  return { view, text: "" };
}

function namesOf(calls: ChatView["calls"]): string {
  return Object.values(calls)
    .map(({ name }) => name)
    .join(", ");
}

function textOf(value: StreamEvent[string]): string {
  return typeof value === "string" ? value : "";
}
