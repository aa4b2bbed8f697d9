import * as fc from "fast-check";
import { expect, test } from "vitest";

import { type ChatView, IDLE, note, showEvent, typedLines, wholeText } from "./chat-view.ts";
import type { SessionEvent } from "../client/follow-stream.ts";
import { paintRow } from "../terminal/spans.ts";
import { addPiece, EMPTY_TRANSCRIPT, type Piece, unfinishedRows } from "../terminal/transcript.ts";

const COLUMNS = 200;

function play(...events: SessionEvent[]): { view: ChatView; text: string } {
  let view = IDLE;
  const pieces: Piece[] = [];
  for (const event of events) {
    const shown = showEvent(view, event);
    view = shown.view;
    pieces.push(...shown.pieces);
  }
  return { view, text: draw(pieces) };
}

/** What stands there, with a newline after each row that is final. */
function draw(pieces: readonly Piece[]): string {
  let transcript = EMPTY_TRANSCRIPT;
  let text = "";
  const plain = (_: unknown, words: string): string => words;
  for (const piece of pieces) {
    const added = addPiece(transcript, piece, COLUMNS);
    transcript = added.transcript;
    text += added.rows.map((row) => `${paintRow(row, plain)}\n`).join("");
  }
  const unfinished = unfinishedRows(transcript, COLUMNS);
  return text + unfinished.map((row) => paintRow(row, plain)).join("\n");
}

const words = (text: string, runId = "run"): SessionEvent => ({
  type: "message.delta",
  kind: "text",
  text,
  runId,
});
const whole = (content: string, runId = "run"): SessionEvent => ({
  type: "message.completed",
  role: "assistant",
  content,
  runId,
});
const started: SessionEvent = { type: "tool.started", callId: "c", name: "Read", args: { path: "a.md" } };
const finished: SessionEvent = {
  type: "tool.finished",
  callId: "c",
  name: "Read",
  status: "ok",
  durationMs: 12,
};

test("what the agent replies on the way is shown, and that it says no more is not", () => {
  const replying = { callId: "c", name: "reply_to_caller" };
  const reply = [
    { type: "tool.started", ...replying, args: { content: "It is **done**." } },
    { type: "tool.finished", ...replying, status: "ok", durationMs: 3, result: "It is in the ledger." },
  ];
  expect(play(...reply, words("NO"), words("_REPLY"), whole("NO_REPLY")).text).toBe("It is done.\n");
  expect(play(...reply, words("NO"), words("W"), whole("NOW")).text).toBe("It is done.\nNOW\n");
  expect(play(whole("NO_REPLY"), words("NO_"), words("PROBLEM")).text).toBe("");
  expect(play(words("NO_REPLY"), whole("NO_REPLY"), words("Next")).text).toBe("Next");
  expect(play(...reply.map((event) => ({ ...event, status: "error" }))).text).toContain("✗ reply_to_caller");
  expect(play({ ...reply[0]!, args: null, turnId: "t1" }, reply[1]!).text).toContain("cortex show t1");
});

test("an answer is shown as it is written, and its line ends when it is complete", () => {
  expect(play(words("Hel"), words("lo.")).text).toBe("Hello.");
  expect(play(words("Hel"), words("lo."), whole("Hello.")).text).toBe("Hello.\n");
});

test("an answer of which no word was streamed is shown when it is complete", () => {
  expect(play(whole("Hello.")).text).toBe("Hello.\n");
});

test("words that come after their message was complete are not shown twice", () => {
  expect(play(words("Hel"), whole("Hello."), words("lo.")).text).toBe("Hello.\n");
  expect(play(whole("One."), words("One."), words("Two."), whole("Two.")).text).toBe("One.\nTwo.\n");
});

test("after words were lost, the message is shown whole", () => {
  expect(play(words("Hel"), words("."), whole("Hello.")).text).toBe("Hel.\nHello.\n");
});

test("whatever words arrive and are lost, every message stands there in the end", () => {
  const message = fc.string({ unit: fc.constantFrom("a", "b", " "), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 4 }), fc.array(fc.boolean()), (messages, kept) => {
      let piece = 0;
      const events = messages.flatMap((content) => {
        const pieces = content.match(/.{1,3}/g)!.filter(() => kept[piece++] ?? true);
        return [...pieces.map((text) => words(text)), whole(content)];
      });
      const lines = play(...events).text.split("\n");
      for (const content of messages) {
        // What begins with four blanks is code, and keeps those at its end.
        expect(lines.some((line) => line.trimEnd().endsWith(content.trim()))).toBe(true);
      }
    }),
  );
});

test("thoughts and messages of others are not shown", () => {
  const thought = { ...words("hm"), kind: "thinking" };
  expect(play(thought, { ...whole("hello"), role: "user" }).text).toBe("");
});

test("a tool call is shown when it is over, below what was said before it", () => {
  expect(play(words("Let me see"), started).text).toBe("Let me see");
  expect(play(words("Let me see"), started, finished).text).toBe("Let me see\n✓ Read a.md · 12 ms\n");
  expect(play({ ...finished, durationMs: null }).text).toBe("✓ Read\n");
});

test("the view says what the agent does", () => {
  const at = (...events: SessionEvent[]): ChatView => play(...events).view;
  const run = (state: string, fields: object = {}): SessionEvent => ({ type: "run.state", state, ...fields });
  expect(at(run("streaming"))).toMatchObject({ state: "working", calls: {} });
  expect(at(run("streaming"), started)).toMatchObject({ calls: { c: { name: "Read", args: "a.md" } } });
  expect(at(run("streaming"), started, finished)).toMatchObject({ state: "working", calls: {} });
  expect(at(run("suspended", { wait: "child" }))).toMatchObject({ state: "waiting", wait: "child" });
  expect(at(run("streaming"), started, run("idle", { outcome: "aborted" }))).toMatchObject({
    state: "idle",
    calls: {},
  });
});

test("a turn that does not come to its end says so", () => {
  const end = (outcome: string): SessionEvent => ({ type: "run.state", state: "idle", outcome });
  expect(play(words("I will"), end("aborted")).text).toBe("I will\nAborted.\n");
  expect(play(end("failed")).text).toBe("The attempt failed.\n");
  expect(play(end("completed")).text).toBe("");
});

test("nothing that an agent says reaches the terminal as a command", () => {
  const { text } = play(
    words("\u001b[2J"),
    whole("\u001b[2Jhello\u0007"),
    { ...started, name: "\u001b[1mX", args: { "\u009b": 1 } },
    finished,
  );
  expect(text).toBe("hello\n✓ X : 1 · 12 ms\n");
});

test("a message that is too long to be streamed says where all of it is", () => {
  const { text } = play({ ...whole("begin"), truncated: true, turnId: "T1" });
  expect(text).toBe("begin\nThe message is truncated; run `cortex show T1` to see all of it.\n");
});

test("a note stands above the line that is being written", () => {
  expect(
    draw([{ kind: "words", text: "Hel" }, note("Aborting.\n  Now."), { kind: "words", text: "lo" }]),
  ).toBe("Aborting.\n  Now.\nHello");
});

test("what was typed is set apart, with all its lines", () => {
  expect(draw([typedLines("one\ntwo\u001b[2J")])).toBe("\n› one\n  two\n");
});

test("a whole text is no part of what is being written", () => {
  expect(draw([{ kind: "words", text: "```\nx" }, ...wholeText("**bold**\n")])).toBe("╭─\n│ x\n╰─\nbold\n");
});

test("an event of a kind that is not known changes nothing", () => {
  expect(play({ type: "hook.fired" })).toEqual({ view: IDLE, text: "" });
});

test("a relay is told of with a line for each step, once", () => {
  const relay = {
    type: "relay.changed",
    relayId: "thr_0a1b2c3d",
    state: "running",
    costUsd: 0.5,
    stage: null,
  };
  const first = { ...relay, step: 1, agent: "planner" };
  const second = { ...relay, step: 2, agent: "coder", stage: "implement", state: "waiting" };
  const { view, text } = play(first, first, second, { ...second, state: "completed" });
  expect(text).toBe(
    "⇢ thr_0a1b2c3d · step 1 · planner · $0.5000\n⇢ thr_0a1b2c3d · step 2 · coder:implement · $0.5000 · waiting\n",
  );
  expect(view).toEqual(IDLE);
});
