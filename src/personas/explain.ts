import type { Origins } from "../config/config.ts";
import type { Json } from "../model/json.ts";
import type { Setup } from "./lookup.ts";

/** One rule of those that must all agree. */
export interface ExplainedPermission {
  /** What it is about: `tools.allow`, `hosts`. Several rules may be about the same. */
  readonly field: string;
  readonly value: Json;
  /** Where it is set: `personas.atlas.permissions.hosts`. */
  readonly path: string;
  /** Whether it is: `cortex.json:12`, or `default`. */
  readonly origin: string;
}

/** What an agent may do, each rule with where it comes from. */
export function explainPermissions(setup: Setup, origins: Origins): ExplainedPermission[] {
  const { id, agent } = setup;
  const ofAgent = (field: string, key: string, value: Json): ExplainedPermission =>
    explained(field, `agents.${id}.${key}`, value, origins);
  return [
    ofAgent("tools.allow", "tools", agent.tools),
    ofAgent("roots", "workspace", [agent.workspace]),
    ...explainPersona(setup, origins),
  ];
}

/** What a persona may do, whichever agent has it. */
export function explainPersona(
  { personaId, persona }: Pick<Setup, "personaId" | "persona">,
  origins: Origins,
): ExplainedPermission[] {
  const { tools, ask, roots, hosts, channels, credentials, spendUsdPerDay } = persona.permissions;
  const ofPersona = (field: string, value: Json): ExplainedPermission =>
    explained(field, `personas.${personaId}.permissions.${field}`, value, origins);
  return [
    ofPersona("tools.allow", tools.allow),
    ofPersona("tools.deny", tools.deny),
    ofPersona("ask", ask),
    ofPersona("roots", roots),
    ofPersona("hosts", hosts),
    ofPersona("channels", channels),
    ofPersona("credentials", credentials),
    ofPersona("spendUsdPerDay", spendUsdPerDay),
  ];
}

function explained(field: string, path: string, value: Json, origins: Origins): ExplainedPermission {
  return { field, value, path, origin: origins[path] ?? "default" };
}
