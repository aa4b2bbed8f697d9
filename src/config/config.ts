import { join, resolve } from "node:path";
import { CortexError } from "../model/errors.ts";
import { type AgentId, DEFAULT_AGENT, type PersonaId } from "../model/ids.ts";
import type { Profile } from "../model/profile.ts";
import { agentEntrySchema, type CortexFile } from "./cortex-schema.ts";
import type { ProfilesFile } from "./profiles-schema.ts";

/** The whole configuration, with every default filled in and every path absolute. */
export type Config = DeepReadonly<
  Omit<CortexFile, "$schema" | "agents" | "personas" | "timezone"> & {
    agents: Record<AgentId, AgentConfig>;
    personas: Record<PersonaId, PersonaConfig>;
    timezone: string;
    profiles: Record<string, Profile>;
    /** Where each value came from. */
    origins: Origins;
    /** The active profile: `--profile`, `CORTEX_PROFILE` or the file. Undefined: the runtime finds one. */
    defaultProfile?: string;
  }
>;

/** `server.port` → `flag --port`, `environment CORTEX_PORT`, `.env CORTEX_PORT`, `cortex.json:12` or `default`. */
export type Origins = Readonly<Record<string, string>>;

export type AgentConfig = DeepReadonly<
  Omit<AgentEntry, "persona" | "role" | "workspace"> & {
    persona: PersonaId;
    role: NonNullable<AgentEntry["role"]>;
    workspace: string;
  }
>;

export type PersonaConfig = DeepReadonly<
  Omit<PersonaEntry, "identity"> & { identity: PersonaEntry["identity"] & { name: string } }
>;

export interface Folders {
  /** The home of this Cortex. */
  readonly home: string;
  /** Where its files of configuration are. */
  readonly config: string;
  /** The user's own folder, for paths that start with `~/`. */
  readonly user: string | undefined;
}

export const DEFAULT_PERSONA = "atlas" as PersonaId;

/** The agents that talk to people and delegate, where nothing else is said of them. */
const MANAGERS: ReadonlySet<string> = new Set([DEFAULT_AGENT, "chief-of-staff"]);

export function buildConfig(
  { agents, personas, timezone: _zone, ...cortex }: CortexFile,
  { profiles, defaultProfile }: ProfilesFile,
  folders: Folders,
): Omit<Config, "origins" | "timezone"> {
  delete cortex.$schema;
  return {
    ...cortex,
    agents: mapEntries(agents, (agent, id) => buildAgent(id, agent, folders)),
    personas: mapEntries(personas, (persona, id) => buildPersona(id, persona, folders)),
    channels: buildChannels(cortex.channels, folders),
    profiles: mapEntries(profiles, (profile, name) => ({
      name,
      ...profile,
      ...(profile.script === undefined ? {} : { script: absolute(folders.config, profile.script, folders) }),
    })),
    ...(defaultProfile === undefined ? {} : { defaultProfile }),
  };
}

/** An agent of which nothing is configured but where it works and who it is. */
export function defaultAgent(id: AgentId, given: { persona: PersonaId; workspace: string }): AgentConfig {
  const { persona, workspace } = given;
  return { ...agentEntrySchema.parse({}), persona, role: roleOf(id), workspace };
}

/** The profile of this name. Throws `profile_unknown`. */
export function profile(config: Config, name: string): Profile {
  if (Object.hasOwn(config.profiles, name)) return config.profiles[name]!;
  throw new CortexError("profile_unknown", `Unknown profile "${name}"`, {
    hint: `Known profiles: ${Object.keys(config.profiles).join(", ")}. Add others in config/profiles.json.`,
  });
}

/** What `__active__` stands for, where that is configured. */
export function activeProfile(config: Config): Profile | undefined {
  return config.defaultProfile === undefined ? undefined : profile(config, config.defaultProfile);
}

type AgentEntry = CortexFile["agents"][string];
type PersonaEntry = CortexFile["personas"][string];

type DeepReadonly<T> = unknown extends T
  ? T
  : T extends string | number | boolean | undefined
    ? T
    : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

function buildAgent(id: string, agent: AgentEntry, folders: Folders): AgentConfig {
  return {
    ...agent,
    persona: agent.persona as PersonaId,
    role: agent.role ?? roleOf(id),
    workspace: absolute(folders.home, agent.workspace ?? join("workspaces", id), folders),
    pluginDirs: agent.pluginDirs.map((path) => absolute(folders.home, path, folders)),
  };
}

function roleOf(id: string): AgentConfig["role"] {
  return MANAGERS.has(id) ? "manager" : "worker";
}

function buildPersona(id: string, persona: PersonaEntry, folders: Folders): PersonaConfig {
  const { identity, permissions } = persona;
  return {
    ...persona,
    identity: { ...identity, name: identity.name ?? id.slice(0, 1).toUpperCase() + id.slice(1) },
    permissions: {
      ...permissions,
      roots: permissions.roots.map((path) => absolute(folders.home, path, folders)),
    },
  };
}

function buildChannels(channels: CortexFile["channels"], folders: Folders): CortexFile["channels"] {
  const paired = channels.paired.map((sender) => {
    const roots = sender.permissions?.roots?.map((path) => absolute(folders.home, path, folders));
    return roots === undefined ? sender : { ...sender, permissions: { ...sender.permissions, roots } };
  });
  const files = mapEntries(channels.files, (watched) => ({
    ...watched,
    folder: absolute(folders.home, watched.folder, folders),
  }));
  return { ...channels, paired, files };
}

function absolute(from: string, path: string, { user }: Folders): string {
  return user !== undefined && /^~(\/|$)/.test(path) ? join(user, path.slice(1)) : resolve(from, path);
}

function mapEntries<From, To>(
  entries: Readonly<Record<string, From>>,
  change: (entry: From, key: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(entries).map(([key, entry]) => [key, change(entry, key)]));
}
