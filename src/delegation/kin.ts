/** How sessions descend from each other: the depth of a worker, and which delegations are allowed. */
import type { Config } from "../config/config.ts";
import { CortexError } from "../model/errors.ts";
import { type AgentId, parseAgentId } from "../model/ids.ts";
import { buildSessionKey, normalizeSessionKey, type SessionKey } from "../model/session-key.ts";
import { type DispatchTarget, type Ledger, MAX_PAGE, type StoredSession } from "../store/store.ts";

export interface Kin {
  readonly self: StoredSession;
  /** The session that opened it, the one that opened that, and so on. */
  readonly ancestors: readonly StoredSession[];
}

export type SessionTarget = Extract<DispatchTarget, { readonly kind: "session" }>;
type Sessions = Pick<Ledger["sessions"], "get" | "ancestors" | "children">;

export async function readKin(session: SessionKey, sessions: Sessions): Promise<Kin> {
  const [self, ancestors] = await Promise.all([sessions.get(session), sessions.ancestors(session)]);
  return { self: self!, ancestors };
}

/** Refuses a worker that would be too deep. */
export function checkDepth({ ancestors }: Kin, maxDepth: number): void {
  const depth = ancestors.length + 1;
  if (depth <= maxDepth) return;
  throw new CortexError(
    "tool_input_invalid",
    `A worker started here would exceed the maximum depth: ${depth} of ${maxDepth}`,
    {
      hint: "Do the work yourself. `broker.maxDepth` in cortex.json sets the limit.",
    },
  );
}

/** Waiting for an ancestor would be waiting for oneself. */
export function checkNotAncestor(agent: AgentId, { self, ancestors }: Kin): void {
  if (agent === self.agent || !ancestors.some((ancestor) => ancestor.agent === agent)) return;
  throw new CortexError(
    "tool_input_invalid",
    `Agent ${agent} assigned you this work, so you cannot delegate to it`,
    {
      hint: "Ask it with send_message_to_agent, or delegate to another agent.",
    },
  );
}

export function checkSession(session: SessionKey, { self, ancestors }: Kin): void {
  if (session !== self.key && !ancestors.some(({ key }) => key === session)) return;
  const whose = session === self.key ? "is this one" : "assigned you this work";
  throw new CortexError("tool_input_invalid", `Session ${session} ${whose}, so you cannot delegate to it`, {
    hint: "Message it with send_message_to_agent, or omit `session` to start a new worker.",
  });
}

export function checkAgentExists(name: string, { agents }: Config): AgentId {
  if (Object.hasOwn(agents, name.toLowerCase())) return parseAgentId(name);
  throw new CortexError("agent_unknown", `Unknown agent ${JSON.stringify(name)}`, {
    hint: `Known agents: ${Object.keys(agents).join(", ")}.`,
  });
}

const MANAGER = new Set(["manager", "parent"]);

/** The session that `to` names. */
export async function findRecipient(
  to: string,
  kin: Kin,
  config: Config,
  sessions: Sessions,
): Promise<SessionTarget> {
  const name = to.trim();
  if (MANAGER.has(name.toLowerCase())) {
    const [manager] = kin.ancestors;
    if (manager === undefined) throw noManager();
    return targetOf(manager);
  }
  if (Object.hasOwn(config.agents, name.toLowerCase()))
    return sessionOfAgent(parseAgentId(name), kin, config, sessions);
  const session = await sessions.get(normalizeSessionKey(name));
  if (session === undefined) throw recipientUnknown(name, config);
  return targetOf(session);
}

export function targetOf({ key, agent, persona }: StoredSession): SessionTarget {
  return { kind: "session", session: key, agent, persona };
}

/** Whether one of two sessions has opened the other, directly or not. */
export async function areRelated(
  session: SessionKey,
  { self, ancestors }: Kin,
  sessions: Sessions,
): Promise<boolean> {
  if (ancestors.some(({ key }) => key === session)) return true;
  return (await sessions.ancestors(session)).some(({ key }) => key === self.key);
}

/** Other people's conversations reach no session but those that were opened from them, and those that opened them. */
export function sessionForeign(key: SessionKey, alternative: string): CortexError {
  return new CortexError("tool_input_invalid", `Session ${key} was not opened from this conversation`, {
    hint: `This conversation includes people other than the owner, so it may only use its own workers. ${alternative}`,
  });
}

/** The worker that was opened last, else the main session. */
async function sessionOfAgent(
  agent: AgentId,
  { self }: Kin,
  config: Config,
  sessions: Sessions,
): Promise<SessionTarget> {
  const children = await sessions.children(self.key, { limit: MAX_PAGE });
  const latest = children.findLast((child) => child.agent === agent);
  if (latest !== undefined) return targetOf(latest);
  const key = buildSessionKey({ kind: "main", agent });
  const main = await sessions.get(key);
  if (main !== undefined) return targetOf(main);
  return { kind: "session", session: key, agent, persona: config.agents[agent]!.persona };
}

function noManager(): CortexError {
  return new CortexError("tool_input_invalid", "No manager: this work was not delegated to you", {
    hint: "Your answer goes to the sender. To message anyone else, name an agent or a session.",
  });
}

function recipientUnknown(name: string, { agents }: Config): CortexError {
  return new CortexError("session_unknown", `Unknown agent or session ${JSON.stringify(name)}`, {
    hint: `Use \`manager\`, an agent (${Object.keys(agents).join(", ")}) or a session key.`,
  });
}
