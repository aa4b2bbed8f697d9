import { expect, test } from "vitest";

import { openDelegating } from "../../test/support/delegating.ts";
import { session } from "../../test/support/sample.ts";
import type { AgentId } from "../model/ids.ts";
import { checkCircle } from "./circle.ts";

const BENCH = { agent: "coder", session: "bench", task: "Do it." };

test("whoever waits for a session that waits for it is refused, over any number of others", async () => {
  await using scene = await openDelegating();
  const { delegations } = scene.store;
  const first = await scene.begin("a", "one");
  await scene.begin("b", "two");
  await scene.call(first, "dispatch_to_agent", { ...BENCH, wait: true });
  const [bench] = await scene.lease();
  const deeper = { session: "two", task: "Go on.", wait: true };
  await scene.call(bench!, "dispatch_to_agent", deeper, { agent: "coder" as AgentId });

  await expect(checkCircle(session("one"), session("two"), delegations)).rejects.toMatchObject({
    code: "tool_input_invalid",
    message: expect.stringContaining("waiting for this one"),
  });
  await expect(checkCircle(session("bench"), session("two"), delegations)).rejects.toThrow(
    "waiting for this one",
  );
  await expect(checkCircle(session("two"), session("three"), delegations)).resolves.toBeUndefined();
});

test("work that is not waited for makes no circle", async () => {
  await using scene = await openDelegating();
  const first = await scene.begin("a", "one");
  await scene.call(first, "dispatch_to_agent", BENCH);
  await expect(
    checkCircle(session("one"), session("bench"), scene.store.delegations),
  ).resolves.toBeUndefined();
});
