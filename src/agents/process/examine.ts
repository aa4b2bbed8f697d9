/** Plays the role of Cortex for a program under test: gives it a task and tool results, and ends it. */
import { errorText } from "../../model/errors.ts";
import type { MessageId } from "../../model/ids.ts";
import { isJsonObject } from "../../model/json.ts";
import { truncate } from "../../model/truncate.ts";
import { type Fields, MAX_LINE_QUOTED } from "./fields.ts";
import { type ProbeReply, Probe, type ProbeOptions, type OutputLine } from "./probe.ts";
import { type Init, PROTOCOL_VERSION } from "./protocol.ts";

export interface CheckLimits {
  /** From its start to `ready`. */
  readonly readyMs: number;
  /** From `init` to the answer. */
  readonly answerMs: number;
  /** From the request to end until the exit; also from `ping` to `pong`. */
  readonly endMs: number;
}

/** Undefined: the check passed. */
export type CheckFinding = { readonly failed: string } | { readonly skipped: string } | undefined;

export interface Examination extends ProbeOptions {
  readonly limits: CheckLimits;
  readonly seen: Observations;
}

/** Collected over all checks. */
interface Observations {
  version: number | undefined;
  readonly lines: OutputLine[];
  /** The scenarios that left processes behind. */
  readonly leftovers: string[];
}

/** How long child processes may outlive the program. */
const GONE_MS = 1_000;

/** Runs a check on a fresh process, of which nothing is left afterwards. */
export async function probing(
  examination: Examination,
  what: string,
  look: (probe: Probe) => Promise<CheckFinding>,
): Promise<CheckFinding> {
  let probe: Probe;
  try {
    probe = await Probe.start(examination);
  } catch (error) {
    return { failed: `it cannot be started: ${errorText(error)}` };
  }
  await using _ = probe;
  const finding = await look(probe);
  if (probe.hasEnded) await probe.hearOut(GONE_MS);
  examination.seen.lines.push(...probe.lines);
  if (probe.hasEnded && !(await probe.isGoneWithin(GONE_MS))) examination.seen.leftovers.push(what);
  return finding;
}

/** Runs a check on a busy program: if it calls a tool, it is waiting for the result. */
export function atWork(
  examination: Examination,
  what: string,
  look: (probe: Probe) => Promise<CheckFinding>,
): Promise<CheckFinding> {
  const { readyMs, answerMs } = examination.limits;
  return probing(examination, what, async (probe) => {
    probe.send(toolInit());
    const ready = await probe.hear(["ready"], readyMs);
    if (typeof ready === "string") return { failed: notHeard("ready", ready, probe) };
    const sign = await probe.hear(["chunk", "message", "tool_request", "done", "error"], answerMs);
    if (typeof sign === "string") return { failed: notHeard("any output after ready", sign, probe) };
    return look(probe);
  });
}

interface TaskOptions {
  readonly send?: (init: Init) => void | Promise<void>;
  /** Instructs it to call a tool. */
  readonly withTool?: boolean;
  /** The result of the tool. */
  readonly toolResult?: string;
  /** Called while it waits for the first result. Returns a problem, if any. */
  readonly beforeResult?: () => Promise<string | undefined>;
}

interface TaskEnd {
  readonly result: Readonly<Record<string, unknown>>;
  /** How often it called a tool. */
  readonly calls: number;
}

/** Gives it a task and the results of its calls until it is done. */
export async function runTask(
  probe: Probe,
  { limits }: Examination,
  {
    send = (init) => probe.send(init),
    withTool = false,
    toolResult = "nothing",
    beforeResult,
  }: TaskOptions = {},
): Promise<TaskEnd | { readonly failed: string }> {
  await send(withTool ? toolInit() : exampleInit(PLAIN_TASK));
  const ready = await probe.hear(["ready"], limits.readyMs);
  if (typeof ready === "string") return { failed: notHeard("ready", ready, probe) };
  const ids = new Set<unknown>();
  let from = 0;
  for (;;) {
    const heard = await probe.hear(["tool_request", "done", "error"], limits.answerMs, from);
    if (typeof heard === "string") return { failed: notHeard("done", heard, probe) };
    from = probe.lines.indexOf(heard) + 1;
    const { type, message } = heard;
    if (type === "error") return { failed: `it sent ${describeLine(heard)}` };
    if (type === "done") {
      const { result, id = TASK_ID } = message;
      if (id !== TASK_ID) return { failed: `expected the id "${TASK_ID}", it sent ${describeLine(heard)}` };
      if (!isJsonObject(result)) return { failed: `done without a result: ${describeLine(heard)}` };
      if (result["success"] === false) return { failed: `it sent ${describeLine(heard)}` };
      return { result, calls: ids.size };
    }
    const problem = requestProblem(message, ids);
    if (problem !== undefined) return { failed: `${problem}: ${describeLine(heard)}` };
    const { id, name } = message;
    ids.add(id);
    const wrong = ids.size === 1 ? await beforeResult?.() : undefined;
    if (wrong !== undefined) return { failed: wrong };
    const isError = name !== TOOL.name;
    probe.send({ type: "tool_result", id, text: isError ? "Unknown tool." : toolResult, isError });
  }
}

function requestProblem(
  { id, name, arguments: args }: Fields,
  ids: ReadonlySet<unknown>,
): string | undefined {
  if (ids.size >= MAX_REQUESTS) return `it called tools more than ${MAX_REQUESTS} times`;
  if (typeof id !== "string" || ids.has(id)) return "a request without a unique id";
  if (typeof name !== "string") return "a request without a name";
  return isJsonObject(args) ? undefined : "a request without arguments";
}

const MAX_REQUESTS = 20;

const TOOL = {
  name: "check_word",
  description: "Gives the word of the day.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
};
export const PLAIN_TASK = "Say hello in one short sentence.";
const TOOL_TASK = `Call the tool ${TOOL.name} once, then answer with the word that it gave you.\n/tool ${TOOL.name} {}`;

const TASK_ID = "check";

export function exampleInit(instruction: string): Init {
  return {
    type: "init",
    version: PROTOCOL_VERSION,
    config: {
      id: TASK_ID,
      parentSessionId: "agent:main:main",
      instruction,
      subAgentType: "general",
      config: {},
    },
    agentConfig: {
      name: "main",
      profile: { name: "offline", backend: "offline", fallback: [] },
      credentials: {},
      systemPrompt: "You are a sub-agent under test.",
      tools: [],
      maxTurns: 4,
    },
    conversation: {
      history: [],
      current: {
        messages: [{ id: "check-0" as MessageId, role: "user", content: instruction, atMs: 0 }],
        toolCalls: [],
      },
    },
  };
}

function toolInit(): Init {
  const init = exampleInit(TOOL_TASK);
  return { ...init, agentConfig: { ...init.agentConfig, tools: [TOOL] } };
}

export function notHeard(what: string, heard: Extract<ProbeReply, string>, probe: Probe): string {
  if (heard === "late") return `${what} did not come in time`;
  const last = probe.lines.at(-1);
  const why = heard === "ended" || last === undefined ? probe.end : `it sent ${describeLine(last)}`;
  return `${what} did not come: ${why}`;
}

export function describeLine(line: OutputLine): string {
  return line.kind === "garbage" ? line.shown : truncate(JSON.stringify(line.message), MAX_LINE_QUOTED);
}
