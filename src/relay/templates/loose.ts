/**
 * Reads the valid parts of a value: everything that does not match the schema is left out. So the checks after the schema
 * find further mistakes in the same pass.
 */
import assert from "node:assert/strict";
import { z } from "zod";
import { schemaAt } from "../../config/schema-tree.ts";

export type Loose<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly (Loose<Item> | undefined)[]
    : { readonly [Key in keyof T]?: Loose<T[Key]> | undefined };

export function readLoosely<T>(schema: z.ZodType<T>, value: unknown): Loose<T> | undefined {
  return read(schema, value) as Loose<T> | undefined;
}

function read(part: z.core.$ZodType, value: unknown): unknown {
  assert(part instanceof z.ZodType, "schemas are not made with zod/mini");
  const schema = schemaAt(part, []) ?? part;
  if (schema instanceof z.ZodUnion) {
    const readings = schema.options.map((option) => read(option, value));
    return readings.find((reading) => reading !== undefined);
  }
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => read(schema.element, item));
  }
  if (schema instanceof z.ZodRecord && isObject(value)) {
    return mapEntries(value, (item) => read(schema.valueType, item));
  }
  if (schema instanceof z.ZodObject && isObject(value)) {
    const known = Object.entries(value).filter(([key]) => Object.hasOwn(schema.shape, key));
    return mapEntries(Object.fromEntries(known), (item, key) => read(schema.shape[key], item));
  }
  const { success, data } = schema.safeParse(value);
  return success ? data : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mapEntries(
  value: Readonly<Record<string, unknown>>,
  change: (item: unknown, key: string) => unknown,
): Record<string, unknown> {
  const entries = Object.entries(value).map(([key, item]) => [key, change(item, key)] as const);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
}
