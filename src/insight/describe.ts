/** The details of an agent or persona and the origin of each value, for the command line and the HTTP API. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Config, profile as profileOf } from "../config/config.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { ACTIVE_PROFILE } from "../model/profile.ts";
import { type ExplainedPermission, explainPermissions, explainPersona } from "../personas/explain.ts";
import { readIdentityFiles } from "../personas/identity-files.ts";
import { lookUp, personaUnknown } from "../personas/lookup.ts";
import type { PluginTrust } from "../personas/plugin-pins.ts";
import { readSkills } from "../personas/skills.ts";
import { findMainSession } from "../routing/resolve.ts";
import type { ModelChoice } from "../config/choose-model.ts";
import { findBubblewrap, sandboxMode } from "../turns/sandbox.ts";
import { agentView, personaView, profileView } from "../feature/views.ts";

interface DescribedHome {
  readonly home: string;
  readonly config: Config;
  /** The model of the profile `__active__`. */
  readonly agentFolders?: PluginTrust["agentFolders"];
  readonly model: ModelChoice;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export type AgentDetails = Awaited<ReturnType<typeof describeAgent>>;
export type PersonaDetails = ReturnType<typeof describePersona>;

/** Throws `agent_unknown`. */
export async function describeAgent(id: string, parts: DescribedHome) {
  const { home, config, agentFolders, model, environment = process.env } = parts;
  const setup = lookUp(config, id as AgentId, config.agents[id as AgentId]?.persona ?? ("" as PersonaId));
  const { agent, persona } = setup;
  const { workspace } = agent;
  const [files, { skills, problems }, isMade, bubblewrap] = await Promise.all([
    identityFiles(workspace),
    readSkills({
      workspace,
      home,
      config,
      agentFolders,
      pluginDirs: agent.pluginDirs,
      patterns: agent.skills,
    }),
    sizeOf(workspace),
    findBubblewrap(environment),
  ]);
  const { setting, effective, why } = sandboxMode(config.sandbox, bubblewrap);
  return {
    ...agentView(id, agent),
    name: persona.identity.name,
    model: agent.profile === ACTIVE_PROFILE ? modelView(model) : modelView(named(config, agent.profile)),
    memory: (agent.memory ?? true) && config.memory.tokens > 0,
    workspaceExists: isMade !== undefined,
    identityFiles: files,
    knownSkills: skills.map(({ name, description, source }) => ({ name, description, source })),
    skillProblems: problems.map(({ path, problem, hint }) => ({ path, problem, hint: hint ?? null })),
    sandbox: { setting, effective, why },
    permissions: explainPermissions(setup, config.origins).map(permissionView),
  };
}

/** Throws `persona_unknown`. */
export function describePersona(id: string, { config }: Pick<DescribedHome, "config">) {
  if (!Object.hasOwn(config.personas, id)) throw personaUnknown(id, config);
  const personaId = id as PersonaId;
  const persona = config.personas[personaId]!;
  return {
    ...personaView(id, persona),
    mainSession: findMainSession(personaId, config) ?? null,
    agents: Object.entries(config.agents).flatMap(([agent, { persona }]) => (persona === id ? [agent] : [])),
    permissions: explainPersona({ personaId, persona }, config.origins).map(permissionView),
  };
}

function named(config: Config, name: string): ModelChoice {
  return { profile: profileOf(config, name), why: "the agent has this profile" };
}

function modelView({ profile, why }: ModelChoice) {
  return { profile: profileView(profile), why };
}

function permissionView({ field, value, path, origin }: ExplainedPermission) {
  return { field, value, path, origin };
}

/** Existing identity files with their size and problem. */
async function identityFiles(workspace: string) {
  const files = await readIdentityFiles(workspace);
  return Promise.all(
    files.map(async ({ name, problem }) => ({
      name,
      bytes: (await sizeOf(join(workspace, name))) ?? null,
      problem: problem ?? null,
    })),
  );
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch {
    return undefined; // missing or not accessible
  }
}
