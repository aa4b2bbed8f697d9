import { expect, test } from "vitest";

import { DEFAULT_AGENT } from "../model/ids.ts";
import { modeOf } from "./chat-server.ts";

type Given = Parameters<typeof modeOf>[0];

function config(queue: object, agents: readonly object[] = []): Given["config"] {
  const all = {
    mode: "steer-backlog",
    agentMode: "followup",
    debounceMs: 0,
    cap: 1,
    drop: "old",
    byChannel: {},
  };
  return {
    broker: { queue: { ...all, onInterrupt: "drop", ...queue } },
    agents,
  } as unknown as Given["config"];
}

test("the mode is the session's own, else its channel's, its agent's, that of people", () => {
  const mode = (own: string | null, settings: Given["config"]): string =>
    modeOf({ mode: own, agent: DEFAULT_AGENT, channel: "cli", config: settings });
  const byChannel = { cli: { mode: "collect" } };
  const agents = [{ id: "main", queueMode: "interrupt" }];
  expect(mode("followup", config({ byChannel }, agents))).toBe("followup");
  expect(mode(null, config({ byChannel }, agents))).toBe("collect");
  expect(mode(null, config({}, agents))).toBe("interrupt");
  expect(mode(null, config({}, [{ id: "main", queueMode: null }]))).toBe("steer-backlog");
});
