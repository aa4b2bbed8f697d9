import type { z } from "zod";
import { formatSource, type JsonFile } from "./json-file.ts";
import { applyOverrides, type Override } from "./overrides.ts";
import { formatPath, type Mistake, type Path, type Problem } from "./problem.ts";
import { validate } from "./validate.ts";

/** One file of the configuration, with its overrides and built-in entries. */
interface Part<Output> {
  readonly file: JsonFile;
  readonly output: Output;
  readonly problems: readonly Problem[];
  /** The names under a key, built in or from the file, including those of invalid entries. */
  readonly names: (key: string) => string[];
  /** Adds the location of a mistake. */
  readonly locate: (mistake: Mistake) => Problem;
}

type BuiltIn = Readonly<Record<string, Readonly<Record<string, object>>>>;

/**
 * The file is checked on its own first: a flag must not hide an invalid value below it. Mistakes that appear with the
 * overrides are due to them.
 */
export function readPart<Output>(
  schema: z.ZodType<Output>,
  file: JsonFile,
  { overrides, builtIn }: { overrides: readonly Override[]; builtIn: BuiltIn },
): Part<Output> {
  const alone = validate(schema, file.value);
  const together = validate(schema, applyOverrides(withBuiltIn(alone.kept, builtIn), overrides));
  const origins = new Map(overrides.map(({ path, origin }) => [formatPath(path), origin]));
  const inFile = ({ path, at, message, hint }: Mistake): Problem => {
    return { source: sourceOf(file, path, at), path: formatPath(path), message, hint };
  };
  const locate = (mistake: Mistake): Problem => {
    const origin = origins.get(formatPath(mistake.path));
    return origin === undefined ? inFile(mistake) : { ...inFile(mistake), source: origin };
  };
  return {
    file,
    output: together.output,
    problems: [...file.problems, ...alone.mistakes.map(inFile), ...together.mistakes.map(locate)],
    names: (key) => [...new Set([...Object.keys(builtIn[key] ?? {}), ...keysWithin(file.value, key)])],
    locate,
  };
}

function withBuiltIn(value: Readonly<Record<string, unknown>>, builtIn: BuiltIn): Record<string, unknown> {
  const merged = Object.entries(builtIn).map(([key, entries]) => [
    key,
    { ...entries, ...(value[key] as object | undefined) },
  ]);
  return { ...value, ...Object.fromEntries(merged) };
}

/** The position of a value in a file. A missing value is located where it belongs. */
export function sourceOf(file: JsonFile, path: Path, at: Mistake["at"]): string {
  const found = file.position(path, at);
  if (found !== undefined || path.length === 0) return formatSource(file.name, found);
  return sourceOf(file, path.slice(0, -1), "value");
}

function keysWithin(value: unknown, key: string): string[] {
  const entries: unknown = (value as Record<string, unknown> | null)?.[key];
  return typeof entries === "object" && entries !== null ? Object.keys(entries) : [];
}
