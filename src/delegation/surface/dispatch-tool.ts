/** The tool by which an agent gives work to another one, which does it in a session of its own. */
import { z } from "zod";

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
import type { StoredSession } from "../../store/store.ts";
import { type Caller, readCaller } from "../caller.ts";
import { checkCircle } from "../circle.ts";
import { delegate, type Given, givenBefore, MAX_TASK_LENGTH, type Order, workerId } from "../delegate.ts";
import {
  areRelated,
  checkAgent,
  checkAgentExists,
  checkDepth,
  checkSession,
  type SessionTarget,
  targetOf,
} from "../kin.ts";
import { boundBy, narrowingOf } from "../narrowing.ts";
import type { DelegationParts } from "../parts.ts";
import { findType, type SubAgentType } from "../sub-agents/types.ts";

const MAX_NAME_LENGTH = 512;
/** A turn waits no longer than this for what has no limit of its own. */
const MAX_WAIT_MS = 86_400_000;
/** The work is written down; doing it takes as long as it takes. */
export const WRITE_TIMEOUT_MS = 30_000;

export const task = z
  .string()
  .trim()
  .min(1)
  .max(MAX_TASK_LENGTH)
  .describe("All that the worker needs to know: it knows nothing of this conversation");
export const name = z.string().trim().min(1).max(MAX_NAME_LENGTH);

const parameters = z.strictObject({
  agent: name.optional().describe("Who does it. Yourself, in a session of its own, unless given"),
  type: name.optional().describe("A type of sub-agent, for its tools and limits"),
  task,
  session: name.optional().describe("A session of an earlier worker, to go on there, or a new label"),
  profile: name.optional().describe("The profile that it runs on"),
  wait: z.boolean().optional().describe("Wait for the result. Otherwise it comes as a message later"),
});

/** What tools have in common that reach another agent. */
export const REACHING = {
  writes: true,
  // All ids are made from the call: the same call again finds what it did.
  repeatable: true,
  timeoutMs: WRITE_TIMEOUT_MS,
  trust: {},
  // Which agents, sessions and types there are.
  errorTrust: { private: true },
} as const;

export function createDispatchTool(use: () => DelegationParts): Tool {
  return defineTool({
    name: "dispatch_to_agent",
    description:
      "Gives work to a worker with a session of its own. With wait, its result is the result of this call; several such calls at " +
      "once run at the same time. Without, the worker goes on by itself, and its result comes to you as one message.",
    parameters,
    ...REACHING,
    async run(params, context) {
      const parts = use();
      const { agent, type, session, wait = false } = params;
      const before = await givenBefore(context, parts.store);
      if (before !== undefined) return answer(before, wait);
      if (agent === undefined && type === undefined && session === undefined) throw nobodyNamed(parts);
      const caller = await readCaller(context, parts);
      const order = await orderOf(params, caller, parts);
      return answer(await delegate(order, caller, parts), wait);
    },
  });
}

async function orderOf(
  params: z.output<typeof parameters>,
  caller: Caller,
  parts: DelegationParts,
): Promise<Order> {
  const { store, config, checkProfile } = parts;
  const { context } = caller;
  const type = params.type === undefined ? undefined : findType(params.type, config());
  const profile = params.profile ?? type?.profile;
  if (profile !== undefined) checkProfile(profile);
  const key = params.session === undefined ? undefined : normalizeSessionKey(params.session);
  const common = {
    task: params.task,
    type: type?.name,
    waits: params.wait ?? false,
    timeoutMs: type?.timeoutMs ?? (params.wait === true ? MAX_WAIT_MS : undefined),
  };
  // A session with a name may be there already, or be by the time that the message is, and may do more than this turn.
  const permissions =
    key === undefined ? caller.behalf : boundBy(context.delegable, caller.isByOthers, [type?.tools]);
  const existing = key === undefined ? undefined : await store.sessions.get(key);
  if (existing !== undefined) {
    const target = await useSession(existing, params, caller, parts);
    return { ...common, target, permissions, profile };
  }
  const agent = checkAgentExists(params.agent ?? agentOfNew(key) ?? context.agent, config());
  const worker = workerOf({ permissions: narrowingOf(context.delegable, [type?.tools]), type, profile });
  return { ...common, target: openWorker({ agent, worker, key }, caller, parts), permissions };
}

/** A session that is there: one of the caller's own workers, or one of another conversation, which is private. */
async function useSession(
  existing: StoredSession,
  { agent, wait = false }: Pick<z.output<typeof parameters>, "agent" | "wait">,
  { context, kin, isByOthers }: Caller,
  { store, mark }: DelegationParts,
): Promise<SessionTarget> {
  checkSession(existing.key, kin);
  checkSameAgent(agent, existing);
  if (wait) await checkCircle(existing.key, context.session, store.delegations);
  if (!(await areRelated(existing.key, kin, store.sessions))) {
    if (isByOthers) throw notYours(existing.key);
    await mark(context.session, ["untrusted", "private"]);
  }
  return targetOf(existing);
}

/** A session that the call opens. Refuses one that would be too deep, or an agent that waits for this one. */
export function openWorker(
  {
    agent,
    worker,
    key,
  }: { readonly agent: AgentId; readonly worker: Worker; readonly key?: SessionKey | undefined },
  { context, kin }: Pick<Caller, "context" | "kin">,
  { config }: Pick<DelegationParts, "config">,
): SessionTarget {
  checkDepth(kin, config().broker.maxDepth);
  checkAgent(agent, kin);
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

function answer({ id, session }: Given, wait: boolean) {
  if (wait) return { kind: "suspend", waitKind: "child", detail: { delegation: id, session } } as const;
  const text = `The work is given to ${session}. Its result comes to you as a message; go on with something else, or end your turn.`;
  return { text, details: { delegation: id, session }, childSession: session } satisfies ToolResult;
}

/** Keys of chats belong to the people in them: nobody opens one for them beforehand. */
function agentOfNew(key: SessionKey | undefined): AgentId | undefined {
  if (key === undefined) return undefined;
  const parsed = parseSessionKey(key);
  if (parsed.kind === "label") return undefined;
  if (parsed.kind === "subagent") return parsed.agent;
  throw new CortexError("session_unknown", `No session is called ${JSON.stringify(key)}`, {
    hint: "Name the session of an earlier worker, a label of your own, or leave `session` out.",
  });
}

function checkSameAgent(
  wanted: string | undefined,
  { key, agent }: { readonly key: SessionKey; readonly agent: AgentId },
): void {
  if (wanted === undefined || wanted.toLowerCase() === agent) return;
  throw new CortexError(
    "tool_input_invalid",
    `The session ${key} is one of the agent ${agent}, not of ${JSON.stringify(wanted)}`,
    {
      hint: "Leave `agent` out, or leave `session` out for a worker of its own.",
    },
  );
}

function notYours(key: SessionKey): CortexError {
  return new CortexError("tool_input_invalid", `The session ${key} was not opened from here`, {
    hint: "Others than the owner have a say in this conversation, so it gives work to its own workers only. Leave `session` out.",
  });
}

function nobodyNamed({ config }: DelegationParts): CortexError {
  return new CortexError("tool_input_invalid", "Nobody is named who does the work", {
    hint: `Give \`agent\` (${Object.keys(config().agents).join(", ")}), \`type\` or \`session\`.`,
  });
}
