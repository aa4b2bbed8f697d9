/**
 * Reads the configuration of a home: flags, then the environment, then the files, then defaults.
 *
 * Problems of all sources are reported together. No step stops at the first mistake: each continues with the valid rest
 * of the previous one.
 */
import { join } from "node:path";
import { DEFAULT_AGENT } from "../model/ids.ts";
import { OFFLINE_PROFILE } from "../model/profile.ts";
import { buildConfig, type Config, DEFAULT_PERSONA } from "./config.ts";
import { cortexSchema } from "./cortex-schema.ts";
import { type Environment, findEnvProblems, mergeEnvironment } from "./environment.ts";
import { type FileText, parseJsonFile, readText } from "./json-file.ts";
import { findOrigins } from "./origins.ts";
import { type Flags, type Override, readOverrides } from "./overrides.ts";
import { readPart } from "./part.ts";
import { configInvalid } from "./problem.ts";
import { profilesSchema } from "./profiles-schema.ts";
import { checkCortex, checkProfiles, type Names } from "./references.ts";

export interface ConfigInput {
  readonly home: string;
  /** The variables of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly flags?: Flags;
  /** The default of `timezone`. */
  readonly systemTimezone?: () => string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The variables of the process, then those of `config/.env`. */
  readonly environment: Environment;
  /** The variables of `config/.env`. */
  readonly fileVariables: () => ReadonlyMap<string, string>;
}

/** The raw texts of the files. */
export interface ConfigTexts {
  readonly cortex: FileText;
  readonly profiles: FileText;
  readonly env: FileText;
}

/** Throws one `config_invalid` that lists all problems. */
export async function readConfig(sources: ConfigInput): Promise<LoadedConfig> {
  return loadConfig(sources, await readTexts(sources.home));
}

export async function readTexts(home: string): Promise<ConfigTexts> {
  const folder = configFolder(home);
  const [cortex, profiles, env] = await Promise.all([
    readText(folder, "cortex.json"),
    readText(folder, "profiles.json"),
    readText(folder, ".env", { isSecret: true }),
  ]);
  return { cortex, profiles, env };
}

export function loadConfig(sources: ConfigInput, texts: ConfigTexts): LoadedConfig {
  const envText = texts.env !== undefined && "text" in texts.env ? texts.env.text : "";
  const environment = mergeEnvironment(sources.environment, envText);
  const { overrides, problems } = readOverrides(sources.flags ?? {}, environment);
  if (texts.env !== undefined && "problem" in texts.env) problems.push(texts.env.problem);
  problems.push(...findEnvProblems(envText));

  const cortex = readPart(cortexSchema, parseJsonFile("cortex.json", texts.cortex), {
    overrides: overrides.filter((override) => !isOfProfiles(override)),
    builtIn: { agents: { [DEFAULT_AGENT]: {} }, personas: { [DEFAULT_PERSONA]: {} } },
  });
  const profiles = readPart(profilesSchema, parseJsonFile("profiles.json", texts.profiles), {
    overrides: overrides.filter(isOfProfiles),
    builtIn: { profiles: { [OFFLINE_PROFILE.name]: { backend: OFFLINE_PROFILE.backend } } },
  });
  const names: Names = { personas: cortex.names("personas"), profiles: profiles.names("profiles") };
  problems.push(
    ...cortex.problems,
    ...checkCortex(cortex.output, names).map(cortex.locate),
    ...profiles.problems,
    ...checkProfiles(profiles.output, names).map(profiles.locate),
  );
  if (problems.length > 0) throw configInvalid(configFolder(sources.home), problems);

  const folders = {
    home: sources.home,
    config: configFolder(sources.home),
    user: environment.lookup("HOME") ?? environment.lookup("USERPROFILE"),
  };
  const built = buildConfig(cortex.output, profiles.output, folders);
  const { timezone } = cortex.output;
  const origins = findOrigins(
    { ...built, timezone: timezone ?? "" },
    { cortex: cortex.file, profiles: profiles.file, overrides },
  );
  const config: Config = {
    ...built,
    /** Found on first use, and then a plain value. */
    get timezone() {
      const value = timezone ?? (sources.systemTimezone ?? systemTimezone)();
      Object.defineProperty(config, "timezone", { value });
      return value;
    },
    origins,
  };
  return {
    config,
    environment: environment.lookup,
    fileVariables: environment.inFile,
  };
}

/** Lists the scripts of sessions. It is read when a script is due. */
export const SESSION_SCRIPTS_FILE = "session-hooks.json";

export function configFolder(home: string): string {
  return join(home, "config");
}

function isOfProfiles({ path }: Override): boolean {
  return Object.hasOwn(profilesSchema.shape, path[0]!);
}

/** Loads eight megabytes of calendar data on the first call, which a server that nobody talks to can do without. */
function systemTimezone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
