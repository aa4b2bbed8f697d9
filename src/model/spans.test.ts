import { expect, test } from "vitest";

import type { EventId, TurnId } from "./ids.ts";
import { Spans } from "./spans.ts";

const A = "test:a" as EventId;

function played() {
  const time = { ms: 10, cpuMs: 5 };
  const spans = new Spans(
    () => 1_000 + time.ms,
    () => ({ ...time }),
  );
  const pass = (ms: number): void => {
    time.ms += ms;
    time.cpuMs += ms / 2;
  };
  return { spans, pass };
}

test("the marks of a message are counted from its first, which may be one of the past", () => {
  const { spans, pass } = played();
  const received = spans.now();
  pass(4);
  spans.mark(A, "received", received);
  spans.mark(A, "accepted");
  pass(1.23456);
  spans.mark(A, "claimed");
  expect(spans.read(A)).toEqual({
    atMs: 1_010,
    marks: [
      ["received", 0, 0],
      ["accepted", 4, 2],
      ["claimed", 5.235, 2.617],
    ],
  });
});

test("the marks of a turn go on from those of its event, each attempt anew, and no turn has those of another", () => {
  const { spans, pass } = played();
  const [one, other] = ["one" as TurnId, "other" as TurnId];
  spans.mark(A, "accepted");
  spans.claim(one, A, spans.now());
  spans.mark(one, "answered");
  pass(7);
  spans.claim(other, A, spans.now());
  spans.claim(one, A, spans.now());
  spans.mark(other, "prepared");
  expect(spans.read(one)!.marks).toEqual([
    ["accepted", 0, 0],
    ["claimed", 7, 3.5],
  ]);
  expect(spans.read(other)!.marks.map(([stage]) => stage)).toEqual(["accepted", "claimed", "prepared"]);
});

test("a turn whose event was marked before a restart begins with its claim", () => {
  const { spans } = played();
  spans.claim("one" as TurnId, A, spans.now());
  expect(spans.read("one" as TurnId)).toEqual({ atMs: 1_010, marks: [["claimed", 0, 0]] });
});

test("the oldest are forgotten", () => {
  const { spans } = played();
  spans.mark(A, "received");
  for (let at = 0; at < 1_000; at++) spans.mark(`test:${at}` as EventId, "received");
  expect(spans.read(A)).toBeUndefined();
  expect(spans.read("test:0" as EventId)).toBeDefined();
});
