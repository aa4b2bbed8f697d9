/** The prompt and status line of a chat: what a message would do, and what the agent is doing. */
import { MAIN_SESSION, type SessionKey } from "../model/session-key.ts";
import type { ApprovalView } from "../feature/approval-view.ts";
import { dollars } from "./chat-lists.ts";
import type { ChatView } from "./chat-view.ts";
import type { TextRow, Span } from "../terminal/spans.ts";
import { duration, shorten } from "../terminal/text.ts";

const MAX_SESSION_LENGTH = 24;
const MAX_WORK_LENGTH = 60;
const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 100;

export interface PromptState {
  readonly view: ChatView;
  readonly session: SessionKey;
  /** The queue mode for messages to a busy agent. Undefined: not known yet. */
  readonly mode: string | undefined;
  /** The pending request of the agent. */
  readonly request: ApprovalView | undefined;
}

export function promptOf({ view, session, mode, request }: PromptState): TextRow {
  const place = session === MAIN_SESSION ? [] : [shorten(session, MAX_SESSION_LENGTH)];
  const does = request === undefined ? (view.state === "idle" ? undefined : (mode ?? "…")) : wanted(request);
  const before = [...place, ...(does === undefined ? [] : [does])].join(" · ");
  const mark: Span = { text: "› ", format: ["bold", "cyan"] };
  return before === "" ? [mark] : [{ text: `${before} `, format: "dim" }, mark];
}

function wanted({ question }: ApprovalView): string {
  return question === null ? "yes or no" : "answer";
}

export interface StatusState {
  readonly view: ChatView;
  readonly nowMs: number;
  readonly sinceMs: number;
  readonly spentUsd: number;
  readonly isAborting: boolean;
}

/** The spinner moves only while work is in progress. */
export function statusOf({ view, nowMs, sinceMs, spentUsd, isAborting }: StatusState): TextRow {
  const frame = view.state === "waiting" ? "⏸" : FRAMES.charAt(Math.floor(nowMs / FRAME_MS) % FRAMES.length);
  const seconds = Math.max(Math.floor((nowMs - sinceMs) / 1_000), 0) * 1_000;
  const facts = [
    seconds === 0 ? "" : duration(seconds).replace(".0 s", " s"),
    spentUsd === 0 ? "" : dollars(spentUsd),
    isAborting ? "aborting" : "Ctrl-C aborts",
  ];
  return [
    { text: `${frame} `, format: "cyan" },
    { text: shorten(workOf(view), MAX_WORK_LENGTH) },
    { text: facts.map((fact) => (fact === "" ? "" : ` · ${fact}`)).join(""), format: "dim" },
  ];
}

function workOf({ state, isCompacting, wait, calls }: ChatView): string {
  if (state === "waiting") return wait === "child" ? "waiting for its workers" : "waiting for your answer";
  if (isCompacting) return "compacting the conversation";
  const work = Object.values(calls).map(({ name, args }) => `${name} ${args}`.trim());
  return work.length === 0 ? "working" : work.join(", ");
}
