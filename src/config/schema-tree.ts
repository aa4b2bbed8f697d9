/** Finds what a schema expects at a path, for better messages than zod's own. */
import { z } from "zod";
import type { Path } from "./problem.ts";

/** The schema at a path, without its optional wrappers. */
export function schemaAt(schema: z.ZodType, path: Path): z.ZodType | undefined {
  let current: z.ZodType | undefined = unwrap(schema);
  for (const step of path) {
    const inner = inside(current, step);
    if (inner === undefined) return undefined;
    current = unwrap(inner);
  }
  return current;
}

export function keysOf(schema: z.ZodType | undefined): string[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => keysOf(classic(option)));
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

interface Leaf {
  readonly path: readonly string[];
  readonly schema: z.ZodType;
}

/** All single values with fixed names; entries of lists and of records with free names are left out. */
export function scalars(schema: z.ZodType, path: readonly string[] = []): Leaf[] {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([key, value]) => scalars(classic(value), [...path, key]));
  }
  return inner instanceof z.ZodRecord || inner instanceof z.ZodArray ? [] : [{ path, schema: inner }];
}

export function isNumeric(schema: z.ZodType): boolean {
  return schema instanceof z.ZodNumber;
}

function inside(schema: z.ZodType, step: string | number): z.ZodType | undefined {
  if (schema instanceof z.ZodObject) {
    return Object.hasOwn(schema.shape, step) ? classic(schema.shape[step]) : undefined;
  }
  if (schema instanceof z.ZodRecord) return classic(schema.valueType);
  if (schema instanceof z.ZodUnion) {
    for (const option of schema.options) {
      const found = inside(unwrap(classic(option)), step);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return schema instanceof z.ZodArray ? classic(schema.element) : undefined;
}

function unwrap(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodExactOptional
  ) {
    return unwrap(classic(schema.unwrap()));
  }
  return schema;
}

/** Zod types inner schemas by their core; all of ours are classic ones. */
function classic(schema: z.core.$ZodType): z.ZodType {
  return schema as z.ZodType;
}
