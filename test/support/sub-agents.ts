/** Turns of sub-agents, with real processes and a journal that is only in memory. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Agent, AgentRequest, AgentResult } from "../../src/agents/agent.ts";
import { createProcessAgent, type ProcessAgentOptions } from "../../src/agents/process/process-agent.ts";
import { ProcessPool, type ProcessPoolOptions } from "../../src/agents/process/pool.ts";
import type { AgentId, TurnId } from "../../src/model/ids.ts";
import type { CallBlock, Message, ToolCall } from "../../src/model/message.ts";
import { question, READ_TOOL, toolCall, userMessage } from "./question.ts";
import { temporaryFolder } from "./temporary.ts";

const BIN = fileURLToPath(new URL("../../bin/cortex.js", import.meta.url));
const FIXTURES = fileURLToPath(new URL("../fixtures/sub-agents/", import.meta.url));
export const OWN = [process.execPath, BIN, "sub-agent", "run"];

/** The command of a fixture. */
export function program(name: string, ...args: string[]): readonly string[] {
  return [process.execPath, join(FIXTURES, name), ...args];
}

export interface TestPool extends AsyncDisposable {
  readonly pool: ProcessPool;
  readonly folder: string;
  readonly strayFile: string;
  readonly logged: string[];
}

/** Busy cores are slow, so there is time; a test whose child does not do as it should gives less. */
export function openPool(more: Partial<ProcessPoolOptions> = {}): TestPool {
  const folder = temporaryFolder();
  const logged: string[] = [];
  const strayFile = join(folder.path, "strays.json");
  const pool = new ProcessPool({
    program: OWN[0]!,
    args: OWN.slice(1),
    folder: folder.path,
    environment: { ...process.env, SOME_API_KEY: "sk-secret" },
    maxProcesses: () => 4,
    warm: () => 2,
    warmMs: () => 60_000,
    strayFile,
    log: (text) => logged.push(text),
    ...more,
    times: { readyMs: 60_000, cancelMs: 30_000, termMs: 30_000, killMs: 30_000, ...more.times },
  });
  return {
    pool,
    folder: folder.path,
    strayFile,
    logged,
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Has nothing to say about windows. */
const INNER: Agent = {
  capabilities: { steer: true, replay: true, suspend: true },
  run: () => Promise.reject(new Error("It is not asked")),
};

let minted = 0;

export function processAgent({ pool }: TestPool, more: Partial<ProcessAgentOptions> = {}): Agent {
  return createProcessAgent({
    pool,
    inner: INNER,
    clock: () => 0,
    mintId: () => `minted-${++minted}`,
    credentials: async () => ({}),
    worker: {},
    silenceMs: 60_000,
    ...more,
  });
}

/** All that is kept of a turn. */
export interface Journal {
  readonly messages: Message[];
  readonly toolCalls: ToolCall[];
}

export function journalOf(text: string): Journal {
  return { messages: [userMessage(text)], toolCalls: [] };
}

/** Runs a turn with tools that read whatever file they are given. */
export function runTurn(
  agent: Agent,
  journal: Journal,
  more: Partial<AgentRequest> = {},
): Promise<AgentResult> {
  const { profile, system, session, signal } = question({ backend: "offline" });
  return agent.run({
    profile,
    system,
    session,
    signal,
    agent: "main" as AgentId,
    turn: "turn-1" as TurnId,
    history: [],
    current: { messages: [...journal.messages], toolCalls: [...journal.toolCalls] },
    tools: [READ_TOOL],
    onDelta: () => {},
    beforeModelCall: async () => ({ kind: "go", messages: [] }),
    async record(message) {
      journal.messages.push(message);
    },
    callTool: async (call, ordinal) => ({ kind: "done", call: read(journal, call, ordinal) }),
    ...more,
  });
}

/** What the tool does: the outcome is in the journal when it is known. */
export function read(
  journal: Journal,
  { id, name, arguments: params }: CallBlock,
  ordinal: number,
): ToolCall {
  const { path } = params as { path?: string };
  const isKnown = name === READ_TOOL.name;
  const text = isKnown ? `content of ${path}` : `Unknown tool ${name}`;
  const result = { text, ...(!isKnown && { isError: true }) };
  const status = isKnown ? "ok" : "error";
  const call = toolCall(ordinal, { callId: id, tool: name, params, status, result });
  journal.toolCalls.push(call);
  return call;
}

export function answerOf(result: AgentResult): Message {
  if (result.kind !== "done") throw new Error(`The turn is ${result.kind}`);
  return result.answer;
}

/** One that has ended, and that nobody has asked about yet, does not run. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    return !/^.*\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
