import type { Config } from "../config/config.ts";
import { CortexError } from "../model/errors.ts";
import { type AgentId, DEFAULT_AGENT, type PersonaId } from "../model/ids.ts";
import {
  buildSessionKey,
  MAIN_SESSION,
  normalizeSessionKey,
  parseSessionKey,
  type SessionKey,
} from "../model/session-key.ts";
import { parseRoute, type RouteWish } from "../model/target.ts";
import { refuseSecretName } from "../store/kept-id.ts";
import type { DispatchTarget, Store } from "../store/store.ts";

export interface RoutingPorts {
  readonly store: Pick<Store, "sessions" | "holdsSecret">;
  readonly config: Config;
  readonly mintId: () => string;
}

/**
 * Finds where a message goes. The turn that it follows is decided later: the store reads the head of the session when
 * the message is claimed, so that the second of two queued messages follows the turn that the first has just finished.
 */
export async function resolveRoute(route: RouteWish, ports: RoutingPorts): Promise<DispatchTarget> {
  if (route.smart === true) throw smartUnconfigured();
  const target = parseRoute(route) ?? { kind: "session", session: MAIN_SESSION };
  switch (target.kind) {
    case "turn":
      return { kind: "turn", turn: target.turn, forkAs: forkLabel(ports.mintId()) };
    case "session":
      return sessionTarget(target.session, ports);
    case "persona":
      return sessionTarget(mainSession(target.persona, ports.config), ports);
  }
}

/** The label of a fork without a name. */
export function forkLabel(id: string): SessionKey {
  return normalizeSessionKey(`fork-${id}`);
}

export type SessionTarget = Extract<DispatchTarget, { kind: "session" }>;

/** A session that exists keeps its agent and persona; a new one gets them from its key, or the persona that is wished. */
export async function sessionTarget(
  session: SessionKey,
  { store, config }: Pick<RoutingPorts, "store" | "config">,
  persona?: PersonaId,
): Promise<SessionTarget> {
  const stored = await store.sessions.get(session);
  if (stored !== undefined) return { kind: "session", session, agent: stored.agent, persona: stored.persona };
  refuseSecretName("session", session, store);
  const agent = agentOf(session);
  if (!Object.hasOwn(config.agents, agent)) throw agentUnknown(agent, config);
  return { kind: "session", session, agent, persona: persona ?? config.agents[agent]!.persona };
}

/** Short labels and sessions of relays belong to `main`. */
function agentOf(session: SessionKey): AgentId {
  const parsed = parseSessionKey(session);
  return "agent" in parsed ? parsed.agent : DEFAULT_AGENT;
}

function mainSession(persona: PersonaId, config: Config): SessionKey {
  if (!Object.hasOwn(config.personas, persona)) throw personaUnknown(persona, config);
  const session = findMainSession(persona, config);
  if (session === undefined) throw personaWithoutAgent(persona);
  return session;
}

/** A persona's own main session, else that of the first agent with the persona. */
export function findMainSession(persona: PersonaId, config: Config): SessionKey | undefined {
  const named = config.personas[persona]?.mainSession;
  if (named !== undefined) return normalizeSessionKey(named);
  const agent = Object.entries(config.agents).find(([, candidate]) => candidate.persona === persona)?.[0];
  return agent === undefined ? undefined : buildSessionKey({ kind: "main", agent: agent as AgentId });
}

function smartUnconfigured(): CortexError {
  return new CortexError("smart_unconfigured", "Smart routing is not configured", {
    hint: "Target a session, thread or persona instead of `smart`.",
  });
}

function agentUnknown(agent: string, config: Config): CortexError {
  return new CortexError("agent_unknown", `Unknown agent "${agent}"`, {
    hint:
      `Agents in cortex.json: ${Object.keys(config.agents).join(", ")}. ` +
      "A team member can be reached after its first tick: `cortex team tick <member>`.",
  });
}

function personaUnknown(persona: string, config: Config): CortexError {
  return new CortexError("persona_unknown", `Unknown persona "${persona}"`, {
    hint: `Personas in cortex.json: ${Object.keys(config.personas).join(", ")}.`,
  });
}

function personaWithoutAgent(persona: string): CortexError {
  return new CortexError(
    "persona_unknown",
    `Persona "${persona}" has no main session because no agent uses it`,
    {
      hint: "In cortex.json, set its `mainSession` or assign the persona to an agent.",
    },
  );
}
