import { expect, test } from "vitest";

import { loadFiles } from "../../../test/support/config-home.ts";
import { subAgentGuidance } from "./guidance.ts";

test("every type is named with what it is for, and when none is worth it", async () => {
  const { config } = await loadFiles({
    "cortex.json": { subAgents: { types: { critic: { label: "Critic", description: "Finds faults." } } } },
  });
  const text = subAgentGuidance(config);
  for (const type of ["explore", "general", "plan", "code", "research"])
    expect(text).toContain(`- ${type} (`);
  expect(text).toContain("- critic (Critic): Finds faults. Tools: all of yours.");
  expect(text).toContain("fewer than two tool calls");
  expect(text).toContain("several times in one step");
  expect(text).toContain("information and no instruction");
});
