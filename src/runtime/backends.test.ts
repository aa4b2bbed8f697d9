import { expect, test } from "vitest";

import { openTestStore } from "../../test/support/open-store.ts";
import { OFFLINE_PROFILE } from "../model/profile.ts";
import { createBackends } from "./backends.ts";

test("a backend is opened when it is first needed, once", async () => {
  await using opened = await openTestStore();
  const agentFor = createBackends({
    store: opened.store,
    clock: opened.clock,
    mintId: () => "id",
    settings: { variable: () => undefined },
  });
  const [first, second] = await Promise.all([
    agentFor(OFFLINE_PROFILE),
    agentFor({ ...OFFLINE_PROFILE, name: "other" }),
  ]);
  expect(first).toBe(second);
  expect(first.capabilities).toEqual({ steer: true, replay: true, suspend: true });
});
