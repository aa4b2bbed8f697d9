/**
 * Settings from flags and environment variables, which override the files.
 *
 * Names follow one rule. Every key with a single value under fixed names (not in lists, and not under names that the
 * user chooses, such as agents) has the variable `CORTEX_` and its path in upper case, and the flag `--` and its path in
 * lower case: `broker.queue.debounceMs` is `CORTEX_BROKER_QUEUE_DEBOUNCE_MS` and `--broker-queue-debounce-ms`. Three
 * have short names instead: `CORTEX_PORT`, `CORTEX_HOST` and `CORTEX_PROFILE`. An empty variable counts as not set.
 */
import type { z } from "zod";
import { cortexSchema } from "./cortex-schema.ts";
import type { MergedEnvironment } from "./environment.ts";
import { suggest } from "../model/nearest.ts";
import { formatPath, type Path, type Problem } from "./problem.ts";
import { profilesSchema } from "./profiles-schema.ts";
import { isNumeric, scalars } from "./schema-tree.ts";
import { TEAM_KEYS, teamFlag } from "./team-settings.ts";
import { findMistakes } from "./validate.ts";

/** By name without the dashes: `{ port: "8080" }`. */
export type Flags = Readonly<Record<string, string | undefined>>;

interface Setting {
  readonly path: readonly string[];
  /** `port` of `--port`. */
  readonly flag: string;
  /** `CORTEX_PORT`. */
  readonly variable: string;
  readonly schema: z.ZodType;
}

export interface Override {
  readonly path: readonly string[];
  readonly value: string | number;
  /** `flag --port` or `environment CORTEX_PORT`. */
  readonly origin: string;
}

const SHORT_NAMES: Readonly<Record<string, string>> = {
  "server.host": "host",
  "server.port": "port",
  defaultProfile: "profile",
};

export const SETTINGS: readonly Setting[] = [...scalars(cortexSchema), ...scalars(profilesSchema)]
  .filter(({ path }) => path[0] !== "$schema")
  .map(({ path, schema }) => {
    const flag = SHORT_NAMES[path.join(".")] ?? path.map(kebab).join("-");
    return { path, schema, flag, variable: `CORTEX_${flag.replaceAll("-", "_").toUpperCase()}` };
  });

export function readOverrides(
  flags: Flags,
  environment: MergedEnvironment,
): { overrides: Override[]; problems: Problem[] } {
  const overrides: Override[] = [];
  const problems = Object.keys(flags).flatMap(flagProblems);
  for (const setting of SETTINGS) {
    const given = [
      { text: flags[setting.flag], origin: `flag --${setting.flag}` },
      {
        text: environment.lookup(setting.variable) || undefined,
        origin: `${environment.originOf(setting.variable)} ${setting.variable}`,
      },
    ];
    for (const { text, origin } of given) {
      if (text === undefined) continue;
      const value = isNumeric(setting.schema) && NUMBER.test(text) ? Number(text) : text;
      const mistakes = findMistakes(setting.schema, value);
      problems.push(...mistakes.map(({ message, hint }) => problem(origin, setting.path, message, hint)));
      if (mistakes.length === 0) overrides.push({ path: setting.path, value, origin });
    }
  }
  return { overrides: firstOfEach(overrides), problems };
}

/** A copy of the value with the overrides applied. */
export function applyOverrides(value: object, overrides: readonly Override[]): unknown {
  const result = structuredClone(value) as Record<string, unknown>;
  for (const { path, value } of overrides) {
    let holder = result;
    for (const step of path.slice(0, -1)) holder = (holder[step] ??= {}) as Record<string, unknown>;
    holder[path.at(-1)!] = value;
  }
  return result;
}

const NUMBER = /^-?\d+(\.\d+)?$/;

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function flagProblems(flag: string): Problem[] {
  const known = [...SETTINGS.map((setting) => setting.flag), ...TEAM_KEYS.map(teamFlag)];
  if (known.includes(flag)) return [];
  return [problem(`flag --${flag}`, [], "unknown setting", suggest(flag, known))];
}

function problem(source: string, path: Path, message: string, hint: string): Problem {
  return { source, path: formatPath(path), message, hint };
}

/** Flags come before variables, so the first counts. */
function firstOfEach(overrides: readonly Override[]): Override[] {
  return overrides.filter(({ path }, index) => overrides.findIndex((other) => other.path === path) === index);
}
