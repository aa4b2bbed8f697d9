/** What docs/delegating.md, docs/sub-agents.md and docs/sub-agent-protocol.md show, as a reader would try it. */
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { CHILD_TIMES } from "../src/agents/process/child.ts";
import { checkProtocol } from "../src/agents/process/check.ts";
import { MAX_LINE_BYTES } from "../src/agents/process/lines.ts";
import { parseChildLine, parseParentLine } from "../src/agents/process/protocol.ts";
import { MAX_OPEN_DELEGATIONS, MAX_TASK_LENGTH } from "../src/delegation/delegate.ts";
import { MAX_RESULT_LENGTH } from "../src/delegation/outcome.ts";
import { subAgentTypes } from "../src/delegation/sub-agents/types.ts";
import { MAIN_SESSION } from "../src/model/session-key.ts";
import { loadFiles } from "./support/config-home.ts";
import { blocksOf, readPage } from "./support/docs.ts";
import { openTestCortex } from "./support/home.ts";

const PATIENT = { timeout: 120_000 };
const EXAMPLE = fileURLToPath(new URL("../docs/examples/sub-agent.py", import.meta.url));
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const needsPython = hasPython ? "" : ": SKIPPED, THERE IS NO python3 HERE";

const delegating = readPage("docs/delegating.md");
const subAgents = readPage("docs/sub-agents.md");
const protocol = readPage("docs/sub-agent-protocol.md");

/** The rows of a table whose first cell is code, cell by cell. */
function rows(page: string): string[][] {
  return Array.from(page.matchAll(/^\| `([^`]+)`(.*)\|$/gm), ([, first, rest]) => [
    first!,
    ...rest!.split("|").map((cell) => cell.trim()),
  ]);
}

test("the configurations are valid", async () => {
  const examples = [...blocksOf(delegating, "json"), ...blocksOf(subAgents, "json")];
  expect(examples).toHaveLength(3);
  for (const text of examples) await expect(loadFiles({ "cortex.json": text })).resolves.toBeDefined();
});

test("the types are those that there are, with their tools and limits", async () => {
  const { config } = await loadFiles({ "cortex.json": "{}" });
  const shown = rows(subAgents.split("## The tool")[0]!).map(([name, , label, , tools, calls]) => ({
    name,
    label,
    tools: tools!.startsWith("all") ? undefined : Array.from(tools!.matchAll(/`(\w+)`/g), ([, tool]) => tool),
    maxTurns: Number(calls),
  }));
  const types = [...subAgentTypes(config).values()];
  expect(shown).toEqual(types.map(({ name, label, tools, maxTurns }) => ({ name, label, tools, maxTurns })));
  expect(types.map(({ timeoutMs }) => timeoutMs)).toEqual(types.map(() => 10 * 60_000));
});

test("the limits are those that hold", async () => {
  const { broker, subAgents: processes } = (await loadFiles({ "cortex.json": "{}" })).config;
  const number = (value: number): string => value.toLocaleString("en-US");
  expect(delegating).toContain(`\`broker.maxDepth\`, ${broker.maxDepth} `);
  expect(delegating).toContain(`\`broker.maxChain\`, ${broker.maxChain} `);
  expect(delegating).toMatch(new RegExp(`open delegations of one session +\\| ${MAX_OPEN_DELEGATIONS} `));
  expect(delegating).toContain(`${number(MAX_TASK_LENGTH)} characters`);
  expect(delegating).toContain(`${number(MAX_RESULT_LENGTH)} characters`);
  expect(subAgents).toContain(`\`broker.maxProcesses\` (${broker.maxProcesses})`);
  expect(subAgents).toContain(`\`subAgents.warm\` (${processes.warm})`);
  expect(subAgents).toContain(`\`subAgents.warmMs\` (${processes.warmMs / 60_000} minutes)`);
  expect(subAgents).toContain(`\`subAgents.silenceMs\`, ${processes.silenceMs / 60_000} minutes`);
  expect(CHILD_TIMES).toMatchObject({ readyMs: 10_000, cancelMs: 1_000, exitMs: 1_000, termMs: 2_000 });
  expect(protocol).toContain(`at most ${MAX_LINE_BYTES / 1024 / 1024} MiB`);
});

test("every line that the protocol shows is one, and every line that there is is shown", () => {
  const [init, ...more] = blocksOf(protocol, "json");
  expect(more).toEqual([]);
  const whole = JSON.stringify(JSON.parse(init!));
  expect(parseParentLine(whole)).toEqual(JSON.parse(whole));

  const shown = session().map(([who, line]) => {
    const parsed = who === "→" ? parseParentLine(line) : parseChildLine(line);
    return `${who} ${parsed!.type}`;
  });
  const said = ["ready", "chunk", "tool_request", "pong", "done"].map((type) => `← ${type}`);
  const told = ["init", "ping", "message", "tool_result"].map((type) => `→ ${type}`);
  expect(new Set(shown)).toEqual(new Set([...said, ...told]));

  const [parents, children] = [
    /## Messages from Cortex\n(.*?)\n### /s,
    /## Messages from a sub-agent\n(.*?)\n### /s,
  ].map((part) => rows(part.exec(protocol)![1]!).map(([type]) => type));
  expect(parents).toEqual(["init", "message", "tool_result", "cancel", "ping"]);
  expect(children).toEqual(["ready", "chunk", "message", "tool_request", "done", "error", "pong"]);
});

function session(): [who: string, line: string][] {
  const text = /## A session, line by line\n.*?```\n(.*?)```/s.exec(protocol)![1]!;
  return text
    .trimEnd()
    .split("\n")
    .map((line) => [line.slice(0, 1), line.slice(2)]);
}

test.skipIf(!hasPython)(`the session is what the example really says${needsPython}`, PATIENT, async () => {
  const lines = session();
  const child = spawn("python3", [EXAMPLE], { stdio: ["pipe", "pipe", "inherit"] });
  const heard = createInterface(child.stdout)[Symbol.asyncIterator]();
  const said: unknown[] = [];
  for (const [who, line] of lines) {
    if (who === "→") child.stdin.write(`${line}\n`);
    else said.push(comparable((await heard.next()).value as string));
  }
  expect(said).toEqual(lines.filter(([who]) => who === "←").map(([, line]) => comparable(line)));
  expect((await heard.next()).done).toBe(true);
});

function comparable(line: string): unknown {
  return JSON.parse(line, (key, value: unknown) => (key === "durationMs" ? 0 : value));
}

test("the checks are those that there are", async () => {
  const results = await checkProtocol({
    command: [process.execPath, "--version"],
    environment: {},
    limits: { readyMs: 10_000 },
  });
  const shown = rows(protocol.split("## The checks")[1]!).map(([name]) => name);
  expect(shown).toEqual(results.map(({ name }) => name));
});

test.skipIf(!hasPython)(`a program of one's own is a sub-agent${needsPython}`, PATIENT, async () => {
  const example = JSON.parse(blocksOf(subAgents, "json")[1]!) as {
    subAgents: { types: { words: { command: string[] } } };
  };
  const { words } = example.subAgents.types;
  const types = {
    words: { ...words, command: words.command.map((word) => (word.endsWith(".py") ? EXAMPLE : word)) },
  };
  const script = String.raw`
- when: ^count
  plays:
    - calls: [{ tool: sub_agent, args: { type: words, task: "two words\n/tool Read {\"path\": \"nothing\"}" } }]
    - say: It is counted.
`;
  const environment = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
  await using cortex = await openTestCortex({ cortex: { subAgents: { types } }, script }, { environment });
  const { item } = await cortex.send({ content: "count", session: MAIN_SESSION, channel: "cli" });
  const outcome = await cortex.outcome(item, AbortSignal.timeout(PATIENT.timeout));
  expect(outcome).toMatchObject({ kind: "turn" });

  const [worker] = await cortex.getChildSessions(MAIN_SESSION);
  expect(worker).toMatchObject({ channel: "subagent:words", state: "idle" });
  const { messages, toolCalls } = (await cortex.store.turns.read(worker!.head!))!;
  expect(messages.at(-1)!.content).toMatch(/^The task has \d+ words\. Read gave \d+ words: /);
  expect(toolCalls).toMatchObject([{ tool: "Read", status: "error" }]);
});
