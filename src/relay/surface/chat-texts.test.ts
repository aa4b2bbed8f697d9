import { expect, test } from "vitest";

import { agentStep, endStep, testRecord } from "../../../test/support/relays.ts";
import { SEED_FILES, relayHome } from "../../../test/support/relay-home.ts";
import {
  describeActive,
  describeAgents,
  describeList,
  describeRelay,
  describeStarted,
  describeTemplates,
} from "./chat-texts.ts";
import { close, finish } from "../record/ending.ts";
import { beginSteps } from "../record/record-step.ts";

const slots = ["planner", "coder"].map((slotId) => ({ slotId, profile: "offline", persistSession: true }));
const running = endStep(
  beginSteps(testRecord({ slots }), [agentStep({ agent: "planner", stage: null })], 0),
  0,
  { costUsd: 0.0123, output: "A plan" },
);

test("the relay of a place is told with its state, its agents and what it has cost", () => {
  expect(describeActive(running)).toBe(
    [
      "*Active Thread* `thr_0a1b2c3d` (test)",
      "Status: running | Active agent: planner",
      "Steps: 1 | Cost: $0.0123",
      "Agents: planner, coder",
    ].join("\n"),
  );
  expect(describeActive({ ...running, templateName: null, abortReason: "no network" })).toMatch(
    /\(ad-hoc\)[^]*\nAbort reason: no network$/,
  );
  expect(describeActive(undefined)).toBe("No active thread in this channel.");
});

test("all of a relay is told with a line for each step, and how it ended", () => {
  expect(describeRelay(running, 5_000).split("\n")).toEqual([
    "*Thread* `thr_0a1b2c3d` (test)",
    "Active agent: planner",
    expect.stringContaining("1 step | $0.0123 | 5.0s"),
    expect.stringContaining("planner: 1 turn · $0.0123"),
  ]);
  const aborted = close(finish(running, { stopReason: "aborted", abortReason: "no network" }, 1_000), 1_000);
  expect(describeRelay(aborted, 5_000)).toMatch(/⛔ Thread aborted[^]*\nAborted: no network$/);
  expect(describeRelay(aborted, 5_000)).not.toContain("Active agent");
});

test("a start names the id, and how to look at it and end it", () => {
  expect(describeStarted(running)).toContain("`thr_0a1b2c3d` (test) started with planner");
  expect(describeStarted(running)).toContain("`!cancel thr_0a1b2c3d`");
});

test("lists have a line for each relay, and say where there is none", () => {
  expect(describeList([running, { ...running, templateName: null, steps: [] }], "here")).toBe(
    [
      "*Recent Threads*",
      "• `thr_0a1b2c3d` test — running | 1 step | $0.0123",
      "• `thr_0a1b2c3d` ad-hoc — running | 0 steps | $0.0123",
    ].join("\n"),
  );
  expect(describeList([running], "running")).toMatch(/^\*Running Threads\*\n/);
  expect([describeList([], "here"), describeList([], "running")]).toEqual([
    "No threads found for this channel.",
    "No threads are running.",
  ]);
});

test("templates and agents are listed with what they are for", async () => {
  using home = relayHome(SEED_FILES);
  const config = await home.read();
  expect(describeTemplates(config)).toBe(
    [
      "*Available Thread Templates*",
      "• `coder-review` — Implement a feature then review it [agents: planner, coder, reviewer]",
    ].join("\n"),
  );
  expect(describeAgents(config, undefined)).toBe(
    [
      "*Available Agents*",
      "• `planner` (claude-sonnet) — Plans the research approach",
      "• `coder` (claude-sonnet)",
      "• `reviewer` (__active__)",
    ].join("\n"),
  );
  using empty = relayHome();
  expect(describeTemplates(await empty.read())).toBe("No thread templates configured.");
  expect(describeAgents(await empty.read(), undefined)).toBe("No agents configured.");
});

test("with a relay under way, its agents are listed too, and an arrow points at the one at work", async () => {
  using home = relayHome();
  const { planner, ...others } = running.agents;
  const agents = { planner: { ...planner!, sessionId: "thr:thr_0a1b2c3d:planner" }, ...others };
  const lines = describeAgents(await home.read(), { ...running, agents }).split("\n");
  expect(lines.slice(1)).toEqual([
    "*Agents of* `thr_0a1b2c3d`",
    "• → `planner` completed (thr:thr_0a1b2c3d:planner)",
    "• `coder` idle",
  ]);
});
