import type { AgentConfig, Config, PersonaConfig } from "../config/config.ts";
import { CortexError } from "../model/errors.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";

/** Who runs a turn: the configured agent, with the identity that its session has. */
export interface Setup {
  readonly id: AgentId;
  readonly agent: AgentConfig;
  readonly persona: PersonaConfig;
}

/** Read anew for every turn: a person may have changed the config since the last one. */
export function lookUp(config: Config, id: AgentId, personaId: PersonaId): Setup {
  const agent = entry(config.agents, id);
  if (agent === undefined) throw unknown("agent", id, Object.keys(config.agents));
  const persona = entry(config.personas, personaId) ?? entry(config.personas, agent.persona);
  if (persona === undefined) throw unknown("persona", personaId, Object.keys(config.personas));
  return { id, agent, persona };
}

/** `constructor` is a name that an agent may have, and one that every object has. */
function entry<Entry>(entries: Readonly<Record<string, Entry>>, name: string): Entry | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

function unknown(what: "agent" | "persona", id: string, known: readonly string[]): CortexError {
  return new CortexError(`${what}_unknown`, `No ${what} is called "${id}"`, {
    hint: `The ${what}s in cortex.json are ${known.join(", ")}.`,
  });
}
