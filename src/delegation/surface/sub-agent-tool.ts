/** The tool an agent uses to have work done by a child process while it waits. */
import { z } from "zod";

import type { Config } from "../../config/config.ts";
import { defineTool } from "../../model/define-tool.ts";
import type { Tool, ToolContext } from "../../model/tool.ts";
import { canonicalToolName } from "../../model/tool-aliases.ts";
import type { Worker } from "../../model/worker.ts";
import type { DelegationPorts } from "../accept.ts";
import { type Caller, readCaller } from "../caller.ts";
import { delegate, findDelegation, type Order } from "../delegate.ts";
import { name, openWorker, REACHING, task } from "./dispatch-tool.ts";
import { checkAgentExists } from "../kin.ts";
import { narrowingOf } from "../narrowing.ts";
import { findType, subAgentGuidance, subAgentTypes } from "../sub-agents/types.ts";

const MAX_TOOLS = 200;
const MAX_PROMPT_LENGTH = 50_000;
const MAX_TIMEOUT_MS = 86_400_000;

const parameters = z.strictObject({
  type: name.describe("Sub-agent type"),
  task,
  agent: name.optional().describe("Agent whose workspace and settings it uses (default: yours)"),
  profile: name.optional().describe("Its model profile"),
  systemPrompt: z
    .string()
    .trim()
    .min(1)
    .max(MAX_PROMPT_LENGTH)
    .optional()
    .describe("Replaces the system prompt of its type"),
  tools: z.array(name).max(MAX_TOOLS).optional().describe("Subset of its type's tools"),
  maxTurns: z.int().min(1).optional().describe("Maximum number of model calls, up to the limit of its type"),
  timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).optional().describe("Timeout in milliseconds"),
});

export function createSubAgentTool(use: () => DelegationPorts, config: () => Config): Tool {
  return defineTool({
    name: "sub_agent",
    description:
      "Delegates work to a sub-agent in its own process and returns the result. Several calls at once run in parallel.",
    parameters,
    guidance: subAgentGuidance(config),
    ...REACHING,
    runsProgram: ({ type }) => subAgentTypes(config()).get(type)?.command !== undefined,
    async run(params, context) {
      const ports = use();
      const { id, session } =
        (await findDelegation(context, ports.store)) ?? (await giveWork(params, context, ports));
      return { kind: "suspend", waitKind: "child", detail: { delegation: id, session } };
    },
  });
}

async function giveWork(params: z.output<typeof parameters>, context: ToolContext, ports: DelegationPorts) {
  const caller = await readCaller(context, ports.store);
  return delegate(orderOf(params, caller, ports), caller, ports);
}

function orderOf(
  params: z.output<typeof parameters>,
  caller: Caller,
  { settings }: Pick<DelegationPorts, "settings">,
): Order {
  const { context } = caller;
  const config = settings.config();
  const type = findType(params.type, config);
  const agent = checkAgentExists(params.agent ?? context.agent, config);
  const profile = params.profile ?? type.profile;
  if (profile !== undefined) settings.profile(profile); // throws if it is unknown
  const systemPrompt = params.systemPrompt ?? type.systemPrompt;
  const worker: Worker = {
    type: type.name,
    permissions: narrowingOf(context.delegable, [type.tools, params.tools?.map(canonicalToolName)]),
    maxTurns: Math.min(type.maxTurns, params.maxTurns ?? Infinity),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(profile === undefined ? {} : { profile }),
    process: type.command === undefined ? {} : { command: type.command },
  };
  return {
    task: params.task,
    type: type.name,
    target: openWorker({ agent, worker }, caller, config),
    permissions: caller.behalf,
    waits: true,
    timeoutMs: params.timeoutMs ?? type.timeoutMs,
  };
}
