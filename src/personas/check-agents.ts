/**
 * Looks at what agents and personas are configured with and no file of configuration shows: folders, files, variables,
 * names of tools. That the configuration is valid in itself was checked when it was read.
 */
import { stat } from "node:fs/promises";
import { codeOf } from "../model/error-code.ts";
import { type Config, profile as profileOf } from "../config/config.ts";
import { suggest } from "../model/nearest.ts";
import type { AgentId, PersonaId } from "../model/ids.ts";
import { matches } from "../model/permissions.ts";
import { ACTIVE_PROFILE } from "../model/profile.ts";
import { TOOL_ALIASES } from "../model/tool-aliases.ts";
import { readIdentityFiles } from "./identity-files.ts";
import type { PluginTrust } from "./plugin-pins.ts";
import { readSkills } from "./skills.ts";
import { isSet } from "../config/unset-variables.ts";

/** Something that somebody should look at. With an error, an agent cannot do what it is configured for. */
export interface Finding {
  readonly level: "error" | "warning";
  /** What it is about: `agents.main.workspace`, or a file. */
  readonly path: string;
  /** A sentence without a full stop. */
  readonly message: string;
  readonly hint: string;
}

interface AgentCheck {
  readonly home: string;
  readonly config: Config;
  /** A variable of the environment or of `config/.env`. */
  readonly variable: (name: string) => string | undefined;
  /** The names of all tools that an agent can have. */
  readonly toolNames: readonly string[];
  readonly agentFolders?: PluginTrust["agentFolders"];
}

/** All agents, all personas and all types of sub-agents; errors first. */
export async function checkAgents(parts: AgentCheck): Promise<Finding[]> {
  const { agents, personas, subAgents } = parts.config;
  const findings = await Promise.all([
    ...Object.keys(agents).map((id) => checkAgent(id as AgentId, parts)),
    ...Object.keys(personas).map((id) => checkPersona(id as PersonaId, parts)),
  ]);
  const types = Object.entries(subAgents.types).flatMap(([name, { tools = [] }]) =>
    checkTools(`subAgents.types.${name}.tools`, tools, parts),
  );
  return [...findings.flat(), ...types].toSorted((a, b) => rank(a) - rank(b));
}

async function checkAgent(id: AgentId, parts: AgentCheck): Promise<Finding[]> {
  const { home, config, agentFolders } = parts;
  const agent = config.agents[id]!;
  const { workspace } = agent;
  const at = `agents.${id}`;
  // One that nobody has named is made when it is needed.
  const isNamed = config.origins[`${at}.workspace`] !== "default";
  const [folders, files, { problems }] = await Promise.all([
    checkFolder(
      `${at}.workspace`,
      workspace,
      isNamed ? "It is created when the agent first runs." : undefined,
    ),
    readIdentityFiles(workspace),
    readSkills({
      workspace,
      home,
      config,
      agentFolders,
      pluginDirs: agent.pluginDirs,
      patterns: agent.skills,
    }),
  ]);
  return [
    ...folders,
    ...checkTools(`${at}.tools`, agent.tools, parts),
    ...checkKey(`${at}.profile`, agent.profile, parts),
    ...files.flatMap(({ problem }) =>
      problem === undefined ? [] : [warning(workspace, problem, "Shorten it, or move parts to other files.")],
    ),
    ...problems.map(({ path, problem, hint, isLeftOut }) =>
      isLeftOut
        ? error(path, `${problem}; it is ignored`, hint ?? "Fix it, or remove it.")
        : warning(path, problem, "Fix it, or keep it as it is."),
    ),
  ];
}

async function checkPersona(id: PersonaId, parts: AgentCheck): Promise<Finding[]> {
  const { config, variable } = parts;
  const { tools, ask, roots, credentials } = config.personas[id]!.permissions;
  const at = `personas.${id}.permissions`;
  const folders = await Promise.all(
    roots.map((root, i) => checkFolder(`${at}.roots[${i}]`, root, "Create it, or remove it from the list.")),
  );
  return [
    ...folders.flat(),
    ...checkTools(`${at}.tools.allow`, tools.allow, parts),
    ...checkTools(`${at}.tools.deny`, tools.deny, parts),
    ...checkTools(`${at}.ask`, ask, parts),
    ...credentials.flatMap((name, i) =>
      isSet(name, variable) ? [] : [unset(`${at}.credentials[${i}]`, name, "Commands run without it.")],
    ),
  ];
}

/** A folder that is not there is said to be missing only where there is something to say about it. */
async function checkFolder(path: string, folder: string, ifMissing: string | undefined): Promise<Finding[]> {
  try {
    if ((await stat(folder)).isDirectory()) return [];
    return [error(path, `${folder} is not a folder`, "Choose a folder, or replace the file with one.")];
  } catch (cause) {
    const code = codeOf(cause);
    if (code !== "ENOENT")
      return [error(path, `cannot access ${folder} (${code})`, "Check its permissions.")];
    return ifMissing === undefined ? [] : [warning(path, `${folder} does not exist`, ifMissing)];
  }
}

function checkTools(
  path: string,
  patterns: readonly string[],
  { toolNames }: Pick<AgentCheck, "toolNames">,
): Finding[] {
  return unknownTools(patterns, toolNames).map(({ index, message, hint }) =>
    warning(`${path}[${index}]`, message, hint),
  );
}

/** Of names and patterns of tools, those that name none. */
export function unknownTools(
  patterns: readonly string[],
  toolNames: readonly string[],
): { readonly index: number; readonly message: string; readonly hint: string }[] {
  const known = [...toolNames, ...Object.keys(TOOL_ALIASES)];
  return patterns.flatMap((pattern, index) => {
    if (pattern === "" || known.some((name) => matches([pattern], name))) return [];
    const message = `unknown tool ${JSON.stringify(pattern)}`;
    return [{ index, message, hint: suggest(pattern.replaceAll("*", ""), known) }];
  });
}

/** A key may also be where its provider looks for it by itself, so only a variable that was named is missed. */
function checkKey(
  path: string,
  name: string,
  { config, variable }: Pick<AgentCheck, "config" | "variable">,
): Finding[] {
  const wanted = name === ACTIVE_PROFILE ? config.defaultProfile : name;
  const key = wanted === undefined ? undefined : profileOf(config, wanted).apiKeyEnv;
  if (key === undefined || isSet(key, variable)) return [];
  return [unset(path, key, `Profile ${JSON.stringify(wanted)} does not work without it.`)];
}

function unset(path: string, name: string, consequence: string): Finding {
  return warning(path, `${name} is not set`, `${consequence} Set it in the environment or in config/.env.`);
}

function error(path: string, message: string, hint: string): Finding {
  return { level: "error", path, message, hint };
}

function warning(path: string, message: string, hint: string): Finding {
  return { level: "warning", path, message, hint };
}

function rank({ level }: Finding): number {
  return level === "error" ? 0 : 1;
}
