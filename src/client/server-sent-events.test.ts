import * as fc from "fast-check";
import { expect, test } from "vitest";

import { MAX_SSE_LINE_LENGTH, readServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";

async function read(...chunks: string[]): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const event of readServerSentEvents(stream(chunks))) events.push(event);
  return events;
}

async function* stream(chunks: readonly string[]): AsyncGenerator<string> {
  yield* chunks;
}

test("an event has an id, a type and data, each where it is given", async () => {
  expect(await read("id: 7\nevent: run.state\ndata: {}\n\ndata: hello\n\n")).toEqual([
    { id: "7", type: "run.state", data: "{}" },
    { id: undefined, type: "message", data: "hello" },
  ]);
});

test("comments are passed over, an id alone is not, and several lines of data are one", async () => {
  expect(await read(": still here\n\nid: 1\n\ndata: a\ndata:b\ndata\n\n")).toEqual([
    { id: "1", type: "message", data: undefined },
    { id: undefined, type: "message", data: "a\nb\n" },
  ]);
});

test("an event that was cut off is none", async () => {
  expect(await read("data: whole\n\ndata: ha")).toEqual([{ id: undefined, type: "message", data: "whole" }]);
});

test("how the stream is cut into pieces makes no difference", async () => {
  const text = "id: 1\r\nevent: a\r\ndata: x\r\n\r\ndata: y\ndata: z\n\n: hm\rdata: w\r\rid: 3\ndata: ü\n\n";
  const whole = await read(text);
  expect(whole).toHaveLength(4);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 20 }), async (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      const chunks = places.slice(1).map((end, at) => text.slice(places[at], end));
      expect(await read(...chunks)).toEqual(whole);
    }),
  );
});

test("a line without end is refused before it fills the memory", async () => {
  await expect(read(`data: ${"x".repeat(MAX_SSE_LINE_LENGTH)}`)).rejects.toThrow("more than");
});
