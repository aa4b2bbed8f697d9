/** The tool an agent uses to give work to another agent, which does it in its own session. */
import { z } from "zod";

import type { Config } from "../../config/config.ts";
import { defineTool } from "../../model/define-tool.ts";
import { CortexError } from "../../model/errors.ts";
import type { AgentId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import {
  buildSessionKey,
  normalizeSessionKey,
  parseSessionKey,
  type SessionKey,
} from "../../model/session-key.ts";
import type { Tool, ToolResult } from "../../model/tool.ts";
import type { Worker } from "../../model/worker.ts";
import { refuseSecretName } from "../../store/kept-id.ts";
import type { StoredSession, Store } from "../../store/store.ts";
import { OWNERS } from "../../model/trust.ts";
import { labelSession } from "../../turns/setup.ts";
import type { DelegationPorts } from "../accept.ts";
import { type Caller, readCaller } from "../caller.ts";
import { checkCircle } from "../circle.ts";
import {
  delegate,
  type DelegationHandle,
  findDelegation,
  MAX_TASK_LENGTH,
  type Order,
  workerId,
} from "../delegate.ts";
import {
  areRelated,
  checkNotAncestor,
  checkAgentExists,
  checkDepth,
  checkSession,
  sessionForeign,
  type SessionTarget,
  targetOf,
} from "../kin.ts";
import { boundBy, narrowingOf } from "../narrowing.ts";
import { findType, type SubAgentType } from "../sub-agents/types.ts";

const MAX_NAME_LENGTH = 512;
/** How long a turn waits for work without a limit of its own. */
const MAX_WAIT_MS = 86_400_000;
/** For recording the work; doing it has its own limit. */
export const WRITE_TIMEOUT_MS = 30_000;

export const task = z
  .string()
  .trim()
  .min(1)
  .max(MAX_TASK_LENGTH)
  .describe("Everything the worker needs to know: it cannot see this conversation");
export const name = z.string().trim().min(1).max(MAX_NAME_LENGTH);

const parameters = z.strictObject({
  agent: name.optional().describe("The agent that does it (default: yourself, in a new session)"),
  type: name.optional().describe("Sub-agent type, which sets its tools and limits"),
  task,
  session: name.optional().describe("Session of an earlier worker to continue, or a new label"),
  profile: name.optional().describe("Its model profile"),
  wait: z.boolean().optional().describe("Wait for the result. Otherwise it arrives later as a message"),
});

/** What tools that reach another agent have in common. */
export const REACHING = {
  writes: true,
  // All ids are derived from the call: a repeated call finds what it did.
  repeatable: true,
  timeoutMs: WRITE_TIMEOUT_MS,
  trust: {},
  // Errors name agents, sessions and types.
  errorTrust: { private: true },
} as const;

export function createDispatchTool(use: () => DelegationPorts): Tool {
  return defineTool({
    name: "dispatch_to_agent",
    description:
      "Delegates work to a worker with its own session. With wait, this call returns the result; several such calls at " +
      "once run in parallel. Without, the worker runs in the background, and its result arrives as one message.",
    parameters,
    ...REACHING,
    async run(params, context) {
      const ports = use();
      const { agent, type, session, wait = false } = params;
      const before = await findDelegation(context, ports.store);
      if (before !== undefined) return answer(before, wait);
      if (agent === undefined && type === undefined && session === undefined) throw assigneeMissing(ports);
      const caller = await readCaller(context, ports.store);
      const order = await orderOf(params, caller, ports);
      return answer(await delegate(order, caller, ports), wait);
    },
  });
}

async function orderOf(
  params: z.output<typeof parameters>,
  caller: Caller,
  { store, settings }: DelegationPorts,
): Promise<Order> {
  const { context } = caller;
  const config = settings.config();
  const type = params.type === undefined ? undefined : findType(params.type, config);
  const profile = params.profile ?? type?.profile;
  if (profile !== undefined) settings.profile(profile); // throws if it is unknown
  const key = params.session === undefined ? undefined : normalizeSessionKey(params.session);
  const common = {
    task: params.task,
    type: type?.name,
    waits: params.wait ?? false,
    timeoutMs: type?.timeoutMs ?? (params.wait === true ? MAX_WAIT_MS : undefined),
  };
  // A named session may exist already, or by the time the message arrives, and may be allowed more than this turn.
  const permissions =
    key === undefined ? caller.behalf : boundBy(context.delegable, caller.isByOthers, [type?.tools]);
  const existing = key === undefined ? undefined : await store.sessions.get(key);
  if (existing !== undefined) {
    const target = await useSession(existing, params, caller, store);
    return { ...common, target, permissions, profile };
  }
  if (key !== undefined && caller.isByPeople) throw sessionForeign(key, START_WORKER);
  refuseSecretName("session", key, store);
  const agent = checkAgentExists(params.agent ?? agentOfNew(key) ?? context.agent, config);
  const worker = workerOf({ permissions: narrowingOf(context.delegable, [type?.tools]), type, profile });
  return { ...common, target: openWorker({ agent, worker, key }, caller, config), permissions };
}

const START_WORKER = "Omit `session` to start a new worker.";

/** What another conversation brings that the caller has had no part in. */
const OTHER_SESSION = { ...OWNERS, untrusted: ["session"] };

/** An existing session: one of the caller's own workers, or one of another conversation, which is private. */
async function useSession(
  existing: StoredSession,
  { agent, wait = false }: Pick<z.output<typeof parameters>, "agent" | "wait">,
  { context, kin, isByOthers }: Caller,
  store: Store,
): Promise<SessionTarget> {
  checkSession(existing.key, kin);
  checkSameAgent(agent, existing);
  if (wait) await checkCircle(existing.key, context.session, store.delegations);
  if (!(await areRelated(existing.key, kin, store.sessions))) {
    if (isByOthers) throw sessionForeign(existing.key, START_WORKER);
    await labelSession(
      context.session,
      [{ label: OTHER_SESSION, origin: { turn: context.turn, session: existing.key } }],
      store,
    );
  }
  return targetOf(existing);
}

/** The session that the call opens. Refuses one that would be too deep, or an agent that waits for this one. */
export function openWorker(
  {
    agent,
    worker,
    key,
  }: { readonly agent: AgentId; readonly worker: Worker; readonly key?: SessionKey | undefined },
  { context, kin }: Pick<Caller, "context" | "kin">,
  { broker }: Pick<Config, "broker">,
): SessionTarget {
  checkDepth(kin, broker.maxDepth);
  checkNotAncestor(agent, kin);
  return {
    kind: "session",
    session: key ?? buildSessionKey({ kind: "subagent", agent, id: workerId(context) }),
    agent,
    persona: kin.self.persona,
    worker: {
      parent: context.session,
      parentTurn: context.turn,
      parentCall: context.callId,
      worker: worker as unknown as Json,
    },
  };
}

function workerOf({
  permissions,
  type,
  profile,
}: {
  readonly permissions: Json;
  readonly type: SubAgentType | undefined;
  readonly profile: string | undefined;
}): Worker {
  return {
    permissions,
    ...(type === undefined ? {} : { type: type.name, maxTurns: type.maxTurns }),
    ...(type?.systemPrompt === undefined ? {} : { systemPrompt: type.systemPrompt }),
    ...(profile === undefined ? {} : { profile }),
  };
}

function answer({ id, session }: DelegationHandle, wait: boolean) {
  if (wait) return { kind: "suspend", waitKind: "child", detail: { delegation: id, session } } as const;
  const text = `Delegated to ${session}. The result will arrive as a message; continue with other work, or end your turn.`;
  return { text, details: { delegation: id, session }, childSession: session } satisfies ToolResult;
}

/** Chat sessions belong to the people in them: no agent opens one. */
function agentOfNew(key: SessionKey | undefined): AgentId | undefined {
  if (key === undefined) return undefined;
  const parsed = parseSessionKey(key);
  if (parsed.kind === "label") return undefined;
  if (parsed.kind === "subagent") return parsed.agent;
  throw new CortexError("session_unknown", `Unknown session ${JSON.stringify(key)}`, {
    hint: "Pass an earlier worker's session or a new label, or omit `session`.",
  });
}

function checkSameAgent(
  wanted: string | undefined,
  { key, agent }: { readonly key: SessionKey; readonly agent: AgentId },
): void {
  if (wanted === undefined || wanted.toLowerCase() === agent) return;
  throw new CortexError(
    "tool_input_invalid",
    `Session ${key} belongs to agent ${agent}, not ${JSON.stringify(wanted)}`,
    {
      hint: "Omit `agent`, or omit `session` to start a new worker.",
    },
  );
}

function assigneeMissing({ settings }: DelegationPorts): CortexError {
  return new CortexError("tool_input_invalid", "No assignee given", {
    hint: `Give \`agent\` (${Object.keys(settings.config().agents).join(", ")}), \`type\` or \`session\`.`,
  });
}
