/** Walking through a schema, to say more about a path than zod does by itself. */
import { z } from "zod";
import type { Path } from "./problem.ts";

/** The schema of what stands at a path, without what makes it optional. */
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
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => keysOf(option as z.ZodType));
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

interface Leaf {
  readonly path: readonly string[];
  readonly schema: z.ZodType;
}

/** Everything that is one value and has a fixed name: what stands in lists and under free names is left out. */
export function scalars(schema: z.ZodType, path: readonly string[] = []): Leaf[] {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([key, value]) => scalars(value as z.ZodType, [...path, key]));
  }
  return inner instanceof z.ZodRecord || inner instanceof z.ZodArray ? [] : [{ path, schema: inner }];
}

/** Whether a value for this is written as a number. */
export function isNumeric(schema: z.ZodType): boolean {
  return schema instanceof z.ZodNumber;
}

function inside(schema: z.ZodType, step: string | number): z.ZodType | undefined {
  if (schema instanceof z.ZodObject) {
    return Object.hasOwn(schema.shape, step) ? (schema.shape[step] as z.ZodType) : undefined;
  }
  if (schema instanceof z.ZodRecord) return schema.valueType as z.ZodType;
  if (schema instanceof z.ZodUnion) {
    for (const option of schema.options) {
      const found = inside(unwrap(option as z.ZodType), step);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return schema instanceof z.ZodArray ? (schema.element as z.ZodType) : undefined;
}

function unwrap(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodExactOptional
  ) {
    return unwrap(schema.unwrap() as z.ZodType);
  }
  return schema;
}
