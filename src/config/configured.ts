/** The configuration of a home as a start would read it, without watching or writing anything. */
import { addEntry, type NewEntry } from "./add-entry.ts";
import type { Config } from "./config.ts";
import { formatPath } from "./problem.ts";
import { type LoadedConfig, readConfig } from "./read.ts";
import { chooseModel, configuredModel, type ModelChoice } from "./choose-model.ts";
import { refuseFile } from "./home.ts";

export interface Configured {
  readonly config: Config;
  /** Every setting in effect, with where it came from: `flag --port`, `cortex.json:12`, `default`. */
  readonly settings: readonly Setting[];
  /** A variable of the environment or of `config/.env`. */
  readonly variable: (name: string) => string | undefined;
  /** The default model: the configured one, else one that is found. */
  readonly model: () => Promise<ModelChoice>;
}

export interface Setting {
  readonly path: string;
  readonly value: unknown;
  readonly origin: string;
}

/** Throws one `config_invalid` that lists all that is wrong. */
export async function readConfigured(source: ConfigSource): Promise<Configured> {
  refuseFile(source.home);
  return toConfigured(await readConfig(source));
}

/** Adds an agent or a persona to `cortex.json`. A running Cortex picks it up automatically. */
export async function addConfigured(source: ConfigSource, entry: NewEntry): Promise<Configured> {
  return toConfigured(await addEntry(source, entry));
}

interface ConfigSource {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

function toConfigured({ config, environment }: LoadedConfig): Configured {
  return {
    config,
    settings: listSettings(config),
    variable: environment,
    model: async () => configuredModel(config, environment) ?? chooseModel(environment, fetch),
  };
}

/** Parts that may hold a secret: their values are not shown. */
const SECRET = new Set(["channels", "extraEnv", "extraOption"]);
const NOT_SHOWN = "(not shown)";

function listSettings({ origins, ...config }: Config): Setting[] {
  return leaves(config, []).flatMap(({ path, value }) => {
    const name = formatPath(path);
    const origin = origins[name];
    if (origin === undefined) return []; // derived, such as the name of a profile
    const isSecret = path.slice(0, -1).some((step) => SECRET.has(step));
    return [{ path: name, value: isSecret ? NOT_SHOWN : value, origin }];
  });
}

/** A list is one value. */
function leaves(value: unknown, path: readonly string[]): { path: readonly string[]; value: unknown }[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [{ path, value }];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}
