/** The configuration of a home as a start would find it. Nothing is watched and nothing written. */
import type { Config } from "../config/config.ts";
import { formatPath } from "../config/problem.ts";
import { type LoadedConfig, readConfig } from "../config/read.ts";

export interface Configured {
  readonly config: Config;
  /** Every setting in effect, with where it came from: `flag --port`, `cortex.json:12`, `default`. */
  readonly settings: readonly Setting[];
}

interface Setting {
  readonly path: string;
  readonly value: unknown;
  readonly origin: string;
}

/** Throws one `config_invalid` that lists all that is wrong. */
export async function readConfigured(sources: {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}): Promise<Configured> {
  const systemTimezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const loaded = await readConfig({ ...sources, systemTimezone });
  return { config: loaded.config, settings: listSettings(loaded) };
}

/** Parts that may hold a secret: it is said that they are set, not to what. */
const SECRET = new Set(["channels", "mcpServers", "extraEnv", "extraOption"]);
const NOT_SHOWN = "(not shown)";

function listSettings({ config, origins }: LoadedConfig): Setting[] {
  return leaves(config, []).flatMap(({ path, value }) => {
    const name = formatPath(path);
    const origin = origins[name];
    if (origin === undefined) return []; // made from others, such as the name of a profile
    const isSecret = path.slice(0, -1).some((step) => SECRET.has(step));
    return [{ path: name, value: isSecret ? NOT_SHOWN : value, origin }];
  });
}

/** A list is one value, as it is for whoever sets it. */
function leaves(value: unknown, path: readonly string[]): { path: readonly string[]; value: unknown }[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [{ path, value }];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}
