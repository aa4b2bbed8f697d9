import type { Config, Origins } from "./config.ts";
import type { JsonFile } from "./json-file.ts";
import type { Override } from "./overrides.ts";
import { formatPath, type Path } from "./problem.ts";

/** The origin of each value of the configuration. A list is one value. */
export function findOrigins(
  config: Omit<Config, "origins">,
  from: { cortex: JsonFile; profiles: JsonFile; overrides: readonly Override[] },
): Origins {
  const { profiles, defaultProfile, ...cortex } = config;
  const overridden = new Map(from.overrides.map(({ path, origin }) => [formatPath(path), origin]));
  const originOf = (file: JsonFile, path: Path): readonly [string, string] => {
    const name = formatPath(path);
    const line = file.position(path)?.line;
    return [name, overridden.get(name) ?? (line === undefined ? "default" : `${file.name}:${line}`)];
  };
  const named = defaultProfile === undefined ? { profiles } : { profiles, defaultProfile };
  return Object.fromEntries([
    ...leaves(cortex).map((path) => originOf(from.cortex, path)),
    ...leaves(named)
      .filter(isWritten)
      .map((path) => originOf(from.profiles, path)),
  ]);
}

function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

/** The name of a profile is its key, not a value. */
function isWritten(path: Path): boolean {
  return !(path[0] === "profiles" && path.length === 3 && path[2] === "name");
}
