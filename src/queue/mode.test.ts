import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { chooseMode } from "./mode.ts";

const { config } = await loadFiles({
  "cortex.json": { broker: { queue: { mode: "collect", agentMode: "queue" } } },
});

const nothing = {
  message: undefined,
  session: undefined,
  agent: undefined,
  sender: "person",
  config,
} as const;

test.each([
  [{ message: "steer", session: "followup", agent: "interrupt" }, "steer"],
  [{ session: "followup", agent: "interrupt" }, "followup"],
  [{ agent: "interrupt" }, "interrupt"],
  [{}, "collect"],
  [{ sender: "agent" }, "queue"],
  [{ sender: "agent", message: "Steer+Backlog" }, "steer-backlog"],
] as const)("of the wishes %o the mode is %s", (wishes, mode) => {
  expect(chooseMode({ ...nothing, ...wishes })).toBe(mode);
});

test("unless told, people steer and agents wait their turn", async () => {
  const { config: plain } = await loadFiles({});
  expect(chooseMode({ ...nothing, config: plain })).toBe("steer-backlog");
  expect(chooseMode({ ...nothing, sender: "agent", config: plain })).toBe("followup");
});

test("a mode that does not exist is refused", () => {
  expect(() => chooseMode({ ...nothing, message: "shout" })).toThrow(
    expect.objectContaining({ code: "queue_mode_unknown" }),
  );
});
