/** A relay whose process is killed in the midst of a step or a script: what was done is not done again. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import type { RelayId, TurnId } from "../src/model/ids.ts";
import { INTERRUPTED } from "../src/relay/record/ending.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { groupsIn, isAlive, notedGroup } from "./support/process-groups.ts";
import { temporaryFolder } from "./support/temporary.ts";

const CHILD = fileURLToPath(new URL("support/relay-child.ts", import.meta.url));
const NEVER = new AbortController().signal;

const agent = (promptTemplate: string) => ({ profile: "__active__", persistSession: false, promptTemplate });
const TEMPLATES = {
  agents: { planner: agent("Plan"), coder: agent("Code") },
  templates: {
    two: {
      description: "Two agents",
      agents: ["planner", "coder"],
      transitions: [{ from: "planner", to: "coder", condition: { type: "always" } }],
      entryAgent: "planner",
      maxTotalSteps: 5,
    },
  },
};

/** The coder appends to the artifact; before it answers, it takes its time. */
const script = (delayMs: number) => `
- when: "Plan"
  agent: planner
  plays:
    - calls: [{ tool: Bash, args: { command: "echo plan >> artifact.md" } }]
    - say: planned
- when: "Code"
  agent: coder
  plays:
    - calls: [{ tool: Bash, args: { command: "echo code >> artifact.md" } }]
    - say: coded
      delayMs: ${delayMs}
`;

function makeHome(home: string, onRestart: string, delayMs = 600_000, hooks: object = {}): void {
  const { agents, templates } = TEMPLATES;
  writeHome(home, {
    script: script(delayMs),
    cortex: { relay: { onRestart }, sandbox: "off" },
    relays: { agents, templates: { two: { ...templates.two, hooks } } },
  });
}

function startRelay(home: string) {
  const child = spawn(process.execPath, [CHILD, home, "two"], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const id = once(child.stdout, "data").then(([chunk]) => (chunk as Buffer).toString().trim() as RelayId);
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  return { id, kill };
}

/** Kills the process when the coder has written and not yet answered. */
async function killedInStep(home: string): Promise<RelayId> {
  const relay = startRelay(home);
  const id = await relay.id;
  const artifact = join(home, "tmp", "threads", id, "artifact.md");
  await expect.poll(() => (existsSync(artifact) ? readFileSync(artifact, "utf8") : "")).toBe("plan\ncode\n");
  await relay.kill();
  writeFileSync(join(home, "config", "script.yaml"), script(0));
  return id;
}

test("with resume, a relay goes on in the step, and what that had done is not done again", async () => {
  using home = temporaryFolder();
  makeHome(home.path, "resume");
  const id = await killedInStep(home.path);
  await using cortex = await openTestCortex({}, { home: home.path });
  const record = (await cortex.relays.ended(id, NEVER))!;
  expect(record).toMatchObject({ status: "completed", stopReason: "no_matching_transition" });
  expect(record.steps.map(({ agentSlotId, output }) => [agentSlotId, output])).toEqual([
    ["planner", "planned"],
    ["coder", "coded"],
  ]);
  expect(await cortex.relays.artifact(id)).toBe("plan\ncode\n");
  const { toolCalls } = (await cortex.store.turns.read(record.steps[1]!.executionId as TurnId))!;
  expect(toolCalls).toHaveLength(1);
});

test("with fail, a relay has failed, and can be resumed from the step that was cut off", async () => {
  using home = temporaryFolder();
  makeHome(home.path, "fail");
  const id = await killedInStep(home.path);
  await using cortex = await openTestCortex({}, { home: home.path });
  expect(await cortex.relays.ended(id, NEVER)).toMatchObject({ status: "failed", error: INTERRUPTED });
  await cortex.relays.resume(id);
  const record = (await cortex.relays.ended(id, NEVER))!;
  expect(record.status).toBe("completed");
  expect(record.steps.map(({ agentSlotId, status }) => [agentSlotId, status])).toEqual([
    ["planner", "completed"],
    ["coder", "failed"],
    ["coder", "completed"],
  ]);
});

/** Says that it has begun, and as which process, and hangs. */
const HANGS = "echo $$ >> begun.txt; sleep 600;";

test.each([
  ["resume", "onStart"],
  ["resume", "onTransition"],
  ["resume", "onEnd"],
  ["fail", "onStart"],
  ["fail", "onTransition"],
])("with %s, %s that was cut off is not run again, and every step is done once", async (onRestart, hook) => {
  using home = temporaryFolder();
  makeHome(home.path, onRestart, 0, { [hook]: { command: HANGS } });
  const relay = startRelay(home.path);
  const id = await relay.id;
  const group = await notedGroup(home.path, "relay-scripts.json");
  await relay.kill();

  await using cortex = await openTestCortex({}, { home: home.path });
  const found = (await cortex.relays.ended(id, NEVER))!;
  expect(found.error).toBe(onRestart === "fail" ? INTERRUPTED : null);
  if (found.status === "failed") await cortex.relays.resume(id);
  const record = (await cortex.relays.ended(id, NEVER))!;
  expect(record).toMatchObject({ status: "completed", stopReason: "no_matching_transition" });
  const [agents, scripts] = ["agent", "script"].map((kind) =>
    record.steps.filter((step) => step.kind === kind),
  );
  expect(agents!.map(({ agentSlotId, status }) => [agentSlotId, status])).toEqual([
    ["planner", "completed"],
    ["coder", "completed"],
  ]);
  expect(scripts!.map(({ error }) => error)).toEqual([expect.stringMatching(/its effects are unknown/)]);
  expect(groupsIn(home.path)).toEqual([group]);
  await expect.poll(() => isAlive(group)).toBe(false);
  expect(await cortex.relays.artifact(id)).toBe("plan\ncode\n");
});
