// "No violations" is only worth printing if the workload would have seen one.

import { expect, test } from "vitest";
import { type Message, Workload, composeTurn } from "./workload.ts";

const size = { sessions: 2, senders: 4, messages: 40 };

test("a contender that keeps order and works serially shows no violation", async () => {
  const workload = new Workload(size);
  const result = await workload.run("serial", async (message) => {
    workload.begin(message.id);
    workload.end(message.id);
    workload.recorded(message.id);
  });

  expect(result).toMatchObject({ messages: 40, orderViolations: 0, overlaps: 0 });
  expect(workload.sent).toBe(42);
});

test("a message that overtakes an acknowledged one is counted", async () => {
  const workload = new Workload({ sessions: 1, senders: 2, messages: 3 });
  const held: Message[] = [];
  const result = await workload.run("holds one back", async (message) => {
    // Message 1 is acknowledged and held; 2 is done, and so 3 is sent after the acknowledgement of 1.
    if (message.id === 1) held.push(message);
    else handle(workload, message);
    if (message.id === 3) setImmediate(() => held.forEach((late) => handle(workload, late)));
  });

  expect(result.orderViolations).toBe(1);
});

test("messages that were sent at the same time have no order", async () => {
  const workload = new Workload({ sessions: 1, senders: 2, messages: 2 });
  const waiting: Message[] = [];
  const result = await workload.run("last in, first out", async (message) => {
    // Message 0 is the unmeasured one.
    if (message.id === 0) return handle(workload, message);
    waiting.push(message);
    if (waiting.length === 2) {
      setImmediate(() => waiting.toReversed().forEach((next) => handle(workload, next)));
    }
  });

  expect(result.orderViolations).toBe(0);
});

test("two agents at once in one session are counted", async () => {
  const workload = new Workload({ sessions: 1, senders: 2, messages: 2 });
  const result = await workload.run("parallel", async (message) => {
    workload.begin(message.id);
    setImmediate(() => {
      workload.end(message.id);
      workload.recorded(message.id);
    });
  });

  expect(result.overlaps).toBe(1);
});

test("a message that is handled twice ends the run", async () => {
  const workload = new Workload({ sessions: 1, senders: 1, messages: 2 });
  const run = workload.run("twice", async (message) => {
    handle(workload, message);
    handle(workload, message);
  });

  await expect(run).rejects.toThrow("Message 0 was handled after it had been recorded");
});

test("nothing is sent after the cap", async () => {
  const workload = new Workload({ ...size, capMs: 0 });
  const result = await workload.run("late", async (message) => handle(workload, message));

  expect(result.messages).toBe(0);
});

test("a turn leaves 8 KB beside the 2 KB of its message", () => {
  const turn = composeTurn({ id: 0, session: 0, body: "x".repeat(2048) });
  const bodies = [...turn.messages.map(({ body }) => body), turn.toolCall.arguments, turn.toolCall.result];

  expect(bodies.join("").length).toBe(8192);
});

function handle(workload: Workload, message: Message): void {
  workload.begin(message.id);
  workload.end(message.id);
  workload.recorded(message.id);
}
