import { expect, test } from "vitest";

import type { AgentId, EventId } from "./ids.ts";
import { MAIN_SESSION } from "./session-key.ts";
import { answeredMessage, type Stamp, stampOf } from "./stamp.ts";

const stamp: Stamp = { kind: "task", from: { session: MAIN_SESSION, agent: "main" as AgentId } };

test("a message of an agent says who has sent it", () => {
  expect(stampOf({ id: "agent:01-0" as EventId, metadata: stamp })).toEqual(stamp);
});

test.each(["http:agent:1", "agents:1", "webhook:agent:1", "cortex:agent:1"])(
  "%s has no stamp, whatever its metadata claim",
  (id) => {
    expect(stampOf({ id: id as EventId, metadata: stamp })).toBeUndefined();
  },
);

test("what an agent notes for the owner has none", () => {
  expect(stampOf({ id: "agent:01-0" as EventId })).toBeUndefined();
});

test("what an agent says meanwhile does not decide where the answer goes", () => {
  const item = (id: string, kind: Stamp["kind"] = "message") => ({
    event: { id: id as EventId, metadata: { ...stamp, kind } },
  });
  const [said, task, person] = [item("agent:1"), item("agent:2", "task"), item("http:1")];
  expect(answeredMessage([said, person])).toBe(person);
  expect(answeredMessage([said, task])).toBe(task);
  expect(answeredMessage([said])).toBe(said);
  expect(answeredMessage([])).toBeUndefined();
});
