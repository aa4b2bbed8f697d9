/** `cortex sub-agent run` as a program of anybody's starts it, with lines of the original protocol. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { Json } from "../src/model/json.ts";
import { MAIN_SESSION } from "../src/model/session-key.ts";
import { fetchJson, run, runJson, start, startServer } from "./support/cli.ts";
import { writeHome } from "./support/home.ts";
import { type ModelServer, type Reply, startModelServer } from "./support/model-server.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { AGENTS, entry, plays } from "./support/workers.ts";

type Line = { readonly type: string } & { readonly [field: string]: Json };

/** Gives a child its work, answers what it asks for, and returns the line that ends it. */
async function work(home: string, init: object): Promise<Line> {
  const child = start(home, "sub-agent", "run");
  child.type(`${JSON.stringify({ type: "init", ...init })}\n`);
  let buffer = "";
  const ended = Promise.withResolvers<Line>();
  child.child.stdout.on("data", (data: string) => {
    buffer += data;
    const lines = buffer.split("\n");
    buffer = lines.pop()!;
    for (const line of lines.map((text) => JSON.parse(text) as Line)) {
      if (line.type === "done" || line.type === "error") ended.resolve(line);
      if (line.type === "tool_request")
        child.type(`${JSON.stringify({ type: "tool_result", id: line["id"], text: "the file says 42" })}\n`);
    }
  });
  const line = await ended.promise;
  child.child.stdin.end();
  expect(await child.ended).toMatchObject({ code: 0 });
  return line;
}

const CONFIG = {
  id: "task-1",
  parentSessionId: "s-1",
  instruction: "Find the number.",
  subAgentType: "explore",
};
const READ = { name: "file_read", description: "Reads a file", parameters: { type: "object" } };

function profileOf(model: ModelServer): object {
  return { backend: "pi", provider: "openai-compatible", baseUrl: model.openaiUrl, model: "m" };
}

test("a sub-agent runs on a profile that has no name, for an agent that has none", async () => {
  await using model = await startModelServer({ answer: () => ({ text: "It is 42." }) });
  using home = temporaryFolder();
  const init = { config: { ...CONFIG, config: {} }, agentConfig: { profile: profileOf(model) } };
  expect(await work(home.path, init)).toMatchObject({
    type: "done",
    result: { success: true, response: "It is 42.", tokensIn: 10, tokensOut: 5 },
  });
  expect(model.requests).toMatchObject([{ model: "m" }]);
});

test("a sub-agent runs on a configured profile by its name, with the key that the home has for it", async () => {
  await using model = await startModelServer({ answer: () => ({ text: "It is 42." }) });
  using home = temporaryFolder();
  const mine = { ...profileOf(model), apiKeyEnv: "MY_MODEL_KEY" };
  writeHome(home.path, { profiles: { defaultProfile: "mine", profiles: { mine } } });
  writeFileSync(join(home.path, "config", ".env"), "MY_MODEL_KEY=sk-of-the-home\n");
  expect(await work(home.path, { config: CONFIG, agentConfig: { profile: "mine" } })).toMatchObject({
    result: { success: true, response: "It is 42." },
  });
  expect(model.requests[0]!.headers.authorization).toBe("Bearer sk-of-the-home");
  expect(await work(home.path, { config: CONFIG, agentConfig: { profile: "mien" } })).toMatchObject({
    type: "error",
    code: "profile_unknown",
    error: 'Unknown profile "mien"',
  });
});

test("config.config.maxTurns ends a sub-agent, which says so and returns what it found", async () => {
  const look: Reply = { text: "Looking.", calls: [{ name: "file_read", arguments: { path: "a" } }] };
  await using model = await startModelServer({ answer: () => look });
  using home = temporaryFolder();
  const init = {
    config: { ...CONFIG, config: { maxTurns: 2 } },
    agentConfig: { profile: profileOf(model), tools: [READ] },
  };
  expect(await work(home.path, init)).toMatchObject({
    type: "done",
    result: {
      success: false,
      limit: "maxTurns",
      error: "Limit reached: maxTurns 2",
      response: expect.stringMatching(
        /made 2 model calls\. \(Limit `maxTurns` of this sub-agent: 2\.\)[^]*the file says 42/,
      ),
    },
  });
  expect(model.requests).toHaveLength(2);
});

test("a sub-agent at its limit is called unfinished by the tool, the session, the event and the commands", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  writeHome(home, {
    cortex: AGENTS,
    script: [
      entry("^go", "main", plays([["sub_agent", { type: "explore", task: "look", maxTurns: 2 }]], "thanks")),
      entry(
        "^look",
        undefined,
        JSON.stringify([
          { say: "The first clue is here.", calls: [{ tool: "List", args: {} }] },
          { calls: [{ tool: "List", args: { depth: 2 } }] },
          { say: "never said" },
        ]),
      ),
    ].join(""),
    profiles: { profiles: { offline: { backend: "offline", script: "script.yaml" } } },
  });
  await using _ = await startServer(home);
  expect(await run(home, ["send", "go", "--wait"])).toMatchObject({ code: 0, out: "thanks\n" });

  const [turn] = (await runJson(home, "log", MAIN_SESSION)) as [{ toolCalls: [{ result: string }] }];
  expect(turn.toolCalls[0].result).toMatch(
    /^The work is incomplete: a limit was reached\.\n\nI stopped here: (this turn|this task) made 2 model calls\. \(Limit `maxTurns` of this sub-agent of type explore: 2\.\)\n\nFound so far:\n\nThe first clue is here\./,
  );
  const { items } = (await fetchJson(home, "/api/sessions/main/children")) as {
    items: [
      {
        key: string;
        head: string;
        limitReached: boolean;
        model: string;
        turnCount: number;
        messageCount: number;
      },
    ];
  };
  expect(items).toMatchObject([{ limitReached: true, turnCount: 1, messageCount: 4 }]);
  const [{ head }] = items;
  expect(await fetchJson(home, `/api/events/cortex:${head}`)).toMatchObject({
    metadata: { limitReached: true },
  });
  expect((await run(home, ["sessions", "--tree"])).out).toMatch(/subagent:\S+ +idle, limit reached/);
  expect((await run(home, ["show", head])).out).toContain("limit reached: its answer is incomplete");
  expect((await run(home, ["why", head])).out).toContain(`turn ${head} ended at a limit`);
});
