import { expect, test } from "vitest";

import type { AgentId, EventId } from "./ids.ts";
import { MAIN_SESSION } from "./session-key.ts";
import { asMetadata, type Stamp, stampOf } from "./stamp.ts";

const stamp: Stamp = { kind: "task", from: { session: MAIN_SESSION, agent: "main" as AgentId }, hops: 1 };

test("a message of an agent says who has sent it", () => {
  expect(stampOf({ id: "agent:01-0" as EventId, metadata: asMetadata(stamp) })).toEqual(stamp);
});

test.each(["http:agent:1", "agents:1", "webhook:agent:1", "cortex:agent:1"])(
  "%s has no stamp, whatever its metadata claim",
  (id) => {
    expect(stampOf({ id: id as EventId, metadata: asMetadata(stamp) })).toBeUndefined();
  },
);

test("what an agent notes for the owner has none", () => {
  expect(stampOf({ id: "agent:01-0" as EventId })).toBeUndefined();
});
