/** Plays the part of Cortex for a program that is looked at: gives it a task and its tools, and tells it to end. */
import type { MessageId } from "../../model/ids.ts";
import { type Heard, Probe, type ProbeOptions, type Said } from "./probe.ts";
import { type Init, PROTOCOL_VERSION } from "./protocol.ts";

export interface CheckLimits {
  /** From its start until it is ready. */
  readonly readyMs: number;
  /** From `init` until the answer. */
  readonly answerMs: number;
  /** From when it is told to end until it has ended; also from `ping` to `pong`. */
  readonly endMs: number;
}

/** Undefined: all is well. */
export type Finding = { readonly failed: string } | { readonly skipped: string } | undefined;

export interface Examination extends ProbeOptions {
  readonly limits: CheckLimits;
  readonly seen: Seen;
}

/** Over all checks. */
interface Seen {
  version: number | undefined;
  readonly said: Said[];
  /** What was done before processes were left behind. */
  readonly stayed: string[];
}

/** How long processes have to go after the one that started them. */
const GONE_MS = 1_000;

/** Looks at a program of its own, of which nothing is left afterwards. */
export async function probing(
  examination: Examination,
  what: string,
  look: (probe: Probe) => Promise<Finding>,
): Promise<Finding> {
  let probe: Probe;
  try {
    probe = await Probe.start(examination);
  } catch (error) {
    return { failed: `it cannot be started: ${error instanceof Error ? error.message : String(error)}` };
  }
  await using _ = probe;
  const finding = await look(probe);
  if (probe.hasEnded) await probe.hearOut(GONE_MS);
  examination.seen.said.push(...probe.said);
  if (probe.hasEnded && !(await probe.isGoneWithin(GONE_MS))) examination.seen.stayed.push(what);
  return finding;
}

/** Looks at a program that is at work: one that asks for a tool waits for its result. */
export function atWork(
  examination: Examination,
  what: string,
  look: (probe: Probe) => Promise<Finding>,
): Promise<Finding> {
  const { readyMs, answerMs } = examination.limits;
  return probing(examination, what, async (probe) => {
    probe.tell(toolInit());
    const ready = await probe.hear(["ready"], readyMs);
    if (typeof ready === "string") return { failed: missing("ready", ready, probe) };
    const sign = await probe.hear(["chunk", "message", "tool_request", "done", "error"], answerMs);
    if (typeof sign === "string") return { failed: missing("a sign of work", sign, probe) };
    return look(probe);
  });
}

interface Playing {
  readonly send?: (init: Init) => void | Promise<void>;
  /** Has it call a tool. */
  readonly withTool?: boolean;
  /** What the tool gives. */
  readonly give?: string;
  /** While it waits for the first result. Undefined: all is well. */
  readonly beforeResult?: () => Promise<string | undefined>;
}

interface Done {
  readonly result: Readonly<Record<string, unknown>>;
  /** How often it asked for a tool. */
  readonly asked: number;
}

/** Gives it a task and whatever tools it asks for, until it is done. */
export async function answerOf(
  probe: Probe,
  { limits }: Examination,
  { send = (init) => probe.tell(init), withTool = false, give = "nothing", beforeResult }: Playing = {},
): Promise<Done | { readonly failed: string }> {
  await send(withTool ? toolInit() : initOf(PLAIN_TASK));
  const ready = await probe.hear(["ready"], limits.readyMs);
  if (typeof ready === "string") return { failed: missing("ready", ready, probe) };
  const ids = new Set<unknown>();
  let from = 0;
  for (;;) {
    const heard = await probe.hear(["tool_request", "done", "error"], limits.answerMs, from);
    if (typeof heard === "string") return { failed: missing("done", heard, probe) };
    from = probe.said.indexOf(heard) + 1;
    const { type, message } = heard;
    if (type === "error") return { failed: `it said ${show(heard)}` };
    if (type === "done") {
      const { result, id = TASK_ID } = message;
      if (id !== TASK_ID) return { failed: `the task is "${TASK_ID}", and it said ${show(heard)}` };
      const isObject = typeof result === "object" && result !== null;
      if (!isObject) return { failed: `done without a result: ${show(heard)}` };
      const done = { result: result as Done["result"], asked: ids.size };
      return done.result["success"] === false ? { failed: `it said ${show(heard)}` } : done;
    }
    const problem = requestProblem(message, ids);
    if (problem !== undefined) return { failed: `${problem}: ${show(heard)}` };
    const { id, name } = message;
    ids.add(id);
    const wrong = ids.size === 1 ? await beforeResult?.() : undefined;
    if (wrong !== undefined) return { failed: wrong };
    const isError = name !== TOOL.name;
    probe.tell({ type: "tool_result", id, text: isError ? "There is no such tool." : give, isError });
  }
}

function requestProblem(
  { id, name, arguments: given }: Readonly<Record<string, unknown>>,
  ids: ReadonlySet<unknown>,
): string | undefined {
  if (ids.size >= MAX_REQUESTS) return `it asked for tools more than ${MAX_REQUESTS} times`;
  if (typeof id !== "string" || ids.has(id)) return "a request without an id of its own";
  if (typeof name !== "string") return "a request without a name";
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  return isObject ? undefined : "a request without arguments";
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

export function initOf(instruction: string): Init {
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
      systemPrompt: "You are a sub-agent that is being checked.",
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
  const init = initOf(TOOL_TASK);
  return { ...init, agentConfig: { ...init.agentConfig, tools: [TOOL] } };
}

export function missing(what: string, heard: Extract<Heard, string>, probe: Probe): string {
  if (heard === "late") return `${what} did not come in time`;
  const why = heard === "ended" ? probe.end : `it said ${show(probe.said.at(-1)!)}`;
  return `${what} did not come: ${why}`;
}

const MAX_SHOWN = 200;

export function show(said: Said): string {
  const text = said.kind === "garbage" ? said.shown : JSON.stringify(said.message);
  return text.length <= MAX_SHOWN || said.kind === "garbage"
    ? text
    : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`;
}
