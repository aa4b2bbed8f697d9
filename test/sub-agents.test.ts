/** Workers that are processes of their own, through all of Cortex. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { MAIN_SESSION } from "../src/model/session-key.ts";
import { isAlive } from "../src/programs/is-alive.ts";
import type { Cortex } from "../src/runtime/cortex.ts";
import { fetchJson, run, runJson, startServer } from "./support/cli.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { type ModelRequest, type Reply, startModelServer } from "./support/model-server.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { openReceiver } from "./support/webhook-receiver.ts";
import {
  AGENTS,
  answerTo,
  entry,
  holdTool,
  messagesTo,
  openWorkers,
  plays,
  resultsOf,
  settled,
} from "./support/workers.ts";

/** The processes that a home has noted. */
function processesOf(home: string): number[] {
  const file = join(home, "data", "sub-agents.json");
  if (!existsSync(file)) return [];
  return (JSON.parse(readFileSync(file, "utf8")) as { pid: number }[]).map(({ pid }) => pid);
}

async function noneLeft(pids: readonly number[]): Promise<void> {
  await expect.poll(() => pids.filter((pid) => isAlive(pid)), PATIENT).toEqual([]);
}

test("a sub-agent works in a process of its own, with the tools of its type, and gives its result", async () => {
  const hold = holdTool();
  const cortex = await openWorkers(
    [
      entry(
        "^go",
        "main",
        plays(
          [
            ["sub_agent", { type: "explore", task: "look" }],
            ["sub_agent", { type: "general", task: "work", tools: ["Hold"], maxTurns: 99 }],
          ],
          "both are back",
        ),
      ),
      entry(
        "^look",
        undefined,
        plays(
          [
            ["Write", { path: "x", content: "x" }],
            ["List", {}],
          ],
          "I looked",
        ),
      ),
      entry("^work", undefined, plays([["Hold", {}]], "I worked")),
    ],
    { tools: [hold.tool] },
  );
  const { item } = await cortex.send({ content: "go" });
  await expect.poll(() => hold.tool.calls, PATIENT).toHaveLength(1);
  const pids = processesOf(cortex.home);
  expect(pids).not.toEqual([]);
  hold.release();

  expect(await answerTo(cortex, item)).toBe("both are back");
  expect(await resultsOf(cortex)).toEqual([
    expect.stringMatching(/^I looked\n\n\[worker agent:main:subagent:/),
    expect.stringMatching(/^I worked\n\n\[worker agent:main:subagent:/),
  ]);
  const workers = await cortex.getChildSessions(MAIN_SESSION);
  expect(workers).toMatchObject([
    { channel: "subagent:explore", worker: { type: "explore", maxTurns: 6, process: {} } },
    { channel: "subagent:general", worker: { type: "general", maxTurns: 12 } },
  ]);
  expect(await resultsOf(cortex, workers[0]!.key)).toEqual([
    'Unknown tool "Write". Available tools: Read, Grep, List, Stat.',
    expect.any(String),
  ]);
  await cortex[Symbol.asyncDispose]();
  await noneLeft(pids);
});

test("whoever aborts a manager ends the processes that work for it, and theirs", async () => {
  const hold = holdTool();
  await using cortex = await openWorkers(
    [
      entry("^go", "main", plays([["sub_agent", { type: "general", task: "task" }]])),
      entry("^task", undefined, plays([["sub_agent", { type: "general", task: "below" }]])),
      entry("^below", undefined, plays([["Hold", {}]])),
    ],
    { tools: [hold.tool] },
    { ...AGENTS, subAgents: { warm: 0 } },
  );
  const { item } = await cortex.send({ content: "go" });
  await expect.poll(() => hold.tool.calls, PATIENT).toHaveLength(1);
  const pids = processesOf(cortex.home);
  await cortex.abort(MAIN_SESSION);
  await cortex.outcome(item, new AbortController().signal);
  await settled(cortex);
  expect(hold.aborted).toBe(1);
  await noneLeft(pids);
});

test("a sub-agent that takes too long is ended, and the call says so", async () => {
  const hold = holdTool();
  await using cortex = await openWorkers(
    [
      entry(
        "^go",
        "main",
        plays([["sub_agent", { type: "general", task: "task", timeoutMs: 1_500 }]], "I went on"),
      ),
      entry("^task", undefined, plays([["Hold", {}]])),
    ],
    { tools: [hold.tool] },
    { ...AGENTS, subAgents: { warm: 0 } },
  );
  const { item } = await cortex.send({ content: "go" });
  expect(await answerTo(cortex, item)).toBe("I went on");
  expect(await resultsOf(cortex)).toEqual([
    expect.stringMatching(/^The work timed out after 1\.5 s and was stopped\./),
  ]);
  await settled(cortex);
  await noneLeft(processesOf(cortex.home));
});

/** Plays a manager, two workers and a sub-agent, each by what it was last told. It keeps nothing. */
function play({ messages }: Pick<ModelRequest, "messages">): Reply {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const text = messages[asked]?.text ?? "";
  const step = messages.slice(asked + 1).filter(({ role }) => role === "assistant").length;
  const calls = (...wanted: readonly (readonly [string, object])[]): Reply => ({
    calls: wanted.map(([name, args], index) => ({
      id: `call_${messages.length}_${index}`,
      name,
      arguments: args as never,
    })),
  });
  if (text.includes("halfway there")) return { text: "The final answer, and I heard of it on the way." };
  if (text.includes("nested work")) return step === 0 ? calls(["List", {}]) : { text: "nested: done" };
  if (text.includes("first half")) {
    if (step === 0) return calls(["sub_agent", { type: "explore", task: "nested work" }]);
    if (step === 1) return calls(["send_message_to_agent", { to: "manager", content: "halfway there" }]);
    return { text: "one: done" };
  }
  if (text.includes("second half")) return { text: "two: done" };
  if (step > 0) return { text: "The final answer, and I heard nothing." };
  return calls(
    ["dispatch_to_agent", { agent: "coder", task: "first half", wait: true }],
    ["dispatch_to_agent", { agent: "scout", task: "second half", wait: true }],
  );
}

const PRICE = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };

test("one message leads to two workers, a sub-agent of one of them, a word on the way, and one answer", async () => {
  await using model = await startModelServer({ answer: play, strict: true });
  await using inbox = await openReceiver();
  const cortex = await openTestCortex({
    cortex: { ...AGENTS, channels: { webhooks: { inbox: { deliverTo: { url: inbox.url } } } } },
    profiles: {
      defaultProfile: "m",
      profiles: { m: { provider: "openai-compatible", baseUrl: model.openaiUrl, model: "m", price: PRICE } },
    },
  });
  const { item } = await cortex.send({ content: "Do it.", delivery: { channel: "webhook", place: "inbox" } });

  expect(await answerTo(cortex, item)).toBe("The final answer, and I heard of it on the way.");
  await settled(cortex);
  const first = (await cortex.getChildSessions(MAIN_SESSION))[0]!;
  expect(await resultsOf(cortex)).toEqual([
    expect.stringMatching(/^one: done\n\n\[worker agent:coder:subagent:\w+, 0\.\d+ USD\]$/),
    expect.stringMatching(/^two: done/),
  ]);
  expect(await resultsOf(cortex, first.key)).toEqual([
    expect.stringMatching(/^nested: done\n\n\[worker agent:coder:subagent:\w+, 0\.\d+ USD\]$/),
    expect.stringContaining("queued"),
  ]);
  expect(await cortex.getChildSessions(first.key)).toMatchObject([
    { channel: "subagent:explore", agent: "coder" },
  ]);
  expect(await messagesTo(cortex, MAIN_SESSION, "message")).toMatchObject([{ sender: "coder" }]);
  expect(await messagesTo(cortex, MAIN_SESSION, "report")).toEqual([]);
  await expect.poll(() => inbox.received, PATIENT).toHaveLength(1);
  expect(model.problems).toEqual([]);
  expect(await turnsOf(cortex)).toBe(4);
  const pids = processesOf(cortex.home);
  await cortex[Symbol.asyncDispose]();
  expect(inbox.received).toHaveLength(1);
  await noneLeft(pids);
});

async function turnsOf({ store }: Cortex): Promise<number> {
  return (await store.counts()).turns;
}

test("a manager that waits for a sub-agent when its server is killed gets the result from the next one", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  const script = [
    entry("^go", "main", plays([["sub_agent", { type: "code", task: "task" }]], "I have it")),
    entry(
      "^task",
      undefined,
      plays([["Bash", { command: "until [ -e go-on ]; do sleep 0.05; done" }]], "the result"),
    ),
  ].join("");
  writeHome(home, {
    cortex: AGENTS,
    script,
    profiles: { profiles: { offline: { backend: "offline", script: "script.yaml" } } },
  });
  let pids: number[] = [];
  {
    await using server = await startServer(home);
    expect(await run(home, ["send", "go"])).toMatchObject({ code: 0 });
    await expect.poll(() => stateOf(home), PATIENT).toBe("suspended");
    await expect.poll(() => processesOf(home), PATIENT).not.toEqual([]);
    pids = processesOf(home);
    server.child.kill("SIGKILL");
    await server.ended;
  }
  writeFileSync(join(home, "workspaces", "main", "go-on"), ""); // for the command, which has nobody any more
  await using _ = await startServer(home);
  await expect.poll(() => stateOf(home), PATIENT).toBe("idle");
  const sessions = (await runJson(home, "sessions")) as { items: { key: string }[] };
  expect(sessions.items).toHaveLength(2);
  const { head } = (await fetchJson(home, "/api/sessions/main")) as { head: string };
  const shown = await run(home, ["show", head]);
  expect(shown.out).toContain("I have it");
  expect(shown.out).toContain("the result");
  await noneLeft(pids);
});

async function stateOf(home: string): Promise<unknown> {
  return ((await fetchJson(home, "/api/sessions/main")) as { state?: unknown }).state;
}
