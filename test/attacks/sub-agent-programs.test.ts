/** Programs of the owner's that run as sub-agents: what starts them, where, and what their answers count as. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { MAIN_SESSION, type SessionKey } from "../../src/model/session-key.ts";
import { readTrust, type Trust } from "../../src/model/trust.ts";
import type { Cortex } from "../../src/runtime/cortex.ts";
import { AGENTS, answerTo, entry, openWorkers, plays, resultsOf } from "../support/workers.ts";
import { call, orderText } from "./attack.ts";
import { waitForEnd } from "./carry-out.ts";
import { OWN } from "./crossing.ts";
import { openScene } from "./scene.ts";

/** Answers with its working directory and the workspace that it is told. */
const TELLS = `
const { createInterface } = require("node:readline");
createInterface({ input: process.stdin }).on("line", (text) => {
  const line = JSON.parse(text);
  if (line.type !== "init") return;
  const send = (said) => process.stdout.write(JSON.stringify(said) + "\\n");
  send({ type: "ready", version: 2 });
  const response = process.cwd() + " " + line.agentConfig.workspace;
  send({ type: "done", result: { success: true, response, tokensIn: 1, tokensOut: 1, costUsd: 0 } });
});`;
const TYPES = (...command: string[]) => ({
  subAgents: { warm: 0, types: { words: { description: "counts", command, tools: ["Read"] } } },
});
const WORK = ["sub_agent", { type: "words", task: "count" }] as const;

async function trustOf({ store }: Cortex, session: SessionKey): Promise<Trust> {
  return readTrust((await store.sessions.get(session))?.settings ?? {});
}

test("a program starts in the home, where no agent plants anything, and is told the workspace", async () => {
  const script = [entry("^go", "main", plays([WORK], "I went on"))];
  await using cortex = await openWorkers(script, {}, { ...AGENTS, ...TYPES(process.execPath, "-e", TELLS) });
  await answerTo(cortex, (await cortex.send({ content: "go" })).item);
  const [result] = await resultsOf(cortex);
  expect(result).toContain(`${cortex.home} ${join(cortex.home, "workspaces", "main")}`);
});

test("what a program answers may be anybody's words and data of the owner", async () => {
  const script = [entry("^go", "main", plays([WORK], "I went on"))];
  await using cortex = await openWorkers(script, {}, { ...AGENTS, ...TYPES(process.execPath, "-e", TELLS) });
  await answerTo(cortex, (await cortex.send({ content: "go" })).item);
  const [worker] = await cortex.getChildSessions(MAIN_SESSION);
  for (const session of [worker!.key, MAIN_SESSION])
    expect(await trustOf(cortex, session)).toMatchObject({
      untrusted: expect.arrayContaining(["tool:sub_agent"]),
      private: ["owner"],
    });
});

test("without a sandbox, a member's words start no program", async () => {
  const types = TYPES(process.execPath, "-e", TELLS);
  await using scene = await openScene({ cortex: { personas: OWN, agents: { main: {} }, ...types } });
  const order = orderText([[call("Bash", { command: "id" })], [call(...WORK)]]);
  const { turn } = await waitForEnd(
    scene,
    await scene.send(order, "bob", { session: "agent:main:telegram:dm:8" }),
  );
  expect(turn?.toolCalls.map(({ tool, status }) => [tool, status])).toEqual([
    ["Bash", "error"],
    ["sub_agent", "error"],
  ]);
});
