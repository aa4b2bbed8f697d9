import {
  type AgentConfig,
  type Config,
  DEFAULT_PERSONA,
  defaultAgent,
  type PersonaConfig,
} from "../config/config.ts";
import { CortexError } from "../model/errors.ts";
import { type AgentId, parseAgentId, type PersonaId } from "../model/ids.ts";

/** Who runs a turn: the configured agent, with the persona of its session. */
export interface Setup {
  readonly id: AgentId;
  readonly agent: AgentConfig;
  readonly personaId: PersonaId;
  readonly persona: PersonaConfig;
}

/** Called for every turn: the configuration may have changed since the last one. */
export function lookUp(config: Config, id: AgentId, personaId: PersonaId): Setup {
  const agent = entry(config.agents, id);
  if (agent === undefined) throw agentUnknown(id, config);
  return { id, agent, ...personaOf(config, [personaId, agent.persona]) };
}

/** An agent that a relay or a team names. */
interface NamedBy {
  /** The persona that started it. Absent: unknown. */
  readonly startedBy?: PersonaId | undefined;
  /** Where the work is: the relay's workspace, or the member's project. */
  readonly folder: string;
}

/**
 * The agent that a relay template or a team note names. An agent in cortex.json is as configured there; any other works
 * in the folder, with the persona that started it. Both may use the folder.
 */
export function agentFor(config: Config, name: string, { startedBy, folder }: NamedBy): Setup {
  const id = parseAgentId(name);
  const known = entry(config.agents, id);
  if (known !== undefined) return withRoot(lookUp(config, id, known.persona), folder);
  const found = personaOf(config, startedBy === undefined ? [] : [startedBy]);
  const agent = defaultAgent(id, { persona: found.personaId, workspace: folder });
  return withRoot({ id, agent, ...found }, folder);
}

function withRoot(setup: Setup, folder: string): Setup {
  const { permissions } = setup.persona;
  const roots = [...new Set([...permissions.roots, folder])];
  return { ...setup, persona: { ...setup.persona, permissions: { ...permissions, roots } } };
}

/** The first of these that exists, else the default persona, which always does. */
function personaOf(config: Config, wanted: readonly PersonaId[]): Pick<Setup, "personaId" | "persona"> {
  const personaId = wanted.find((id) => entry(config.personas, id) !== undefined) ?? DEFAULT_PERSONA;
  return { personaId, persona: config.personas[personaId]! };
}

/** An agent may be called `constructor`, which every object has. */
function entry<Entry>(entries: Readonly<Record<string, Entry>>, name: string): Entry | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

function agentUnknown(id: string, { agents }: Config): CortexError {
  return new CortexError("agent_unknown", `Unknown agent "${id}"`, {
    hint: `Agents in cortex.json: ${Object.keys(agents).join(", ")}.`,
  });
}

export function personaUnknown(id: string, { personas }: Config): CortexError {
  return new CortexError("persona_unknown", `Unknown persona "${id}"`, {
    hint: `Personas in cortex.json: ${Object.keys(personas).join(", ")}.`,
  });
}
