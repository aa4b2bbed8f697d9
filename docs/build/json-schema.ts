/** Flattens a JSON Schema into fields with types. */
import { code } from "./markdown.ts";

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly $ref?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
}

export interface Field {
  /** `queue.mode`, `types.<name>.label`, `paired[].sender`. */
  readonly path: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

/** Zod uses this for an unbounded integer. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/** All leaf fields at any depth, through objects, lists of objects and records. */
export function fieldsOf(schema: JsonSchema, path = "", isRequired = true): Field[] {
  const { properties, required = [] } = schema;
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([key, inner]) =>
      fieldsOf(inner, path === "" ? key : `${path}.${key}`, required.includes(key)),
    );
  }
  const entry = schema.additionalProperties;
  if (typeof entry === "object" && entry.properties !== undefined) return fieldsOf(entry, `${path}.<name>`);
  const field = { path, schema, isRequired };
  if (schema.items?.properties === undefined) return [field];
  return [field, ...fieldsOf(schema.items, `${path}[]`)];
}

/** The type of a value in Markdown. `linkTo` formats a named schema. */
export function typeOf(schema: JsonSchema, linkTo: (name: string) => string = code): string {
  const of = (inner: JsonSchema): string => typeOf(inner, linkTo);
  if (schema.$ref !== undefined) return linkTo(schema.$ref.split("/").at(-1)!);
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((each) => code(JSON.stringify(each))).join(", ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(of).join(" or ");
  if (Array.isArray(schema.type))
    return schema.type.map((type: string) => of({ ...schema, type })).join(" or ");
  switch (schema.type) {
    case "array":
      return schema.items === undefined ? "list" : `list of ${of(schema.items)}`;
    case "object": {
      const entry = schema.additionalProperties;
      return typeof entry === "object" && Object.keys(entry).length > 0 ? `${of(entry)} by name` : "object";
    }
    case "integer":
    case "number":
      return `${schema.type === "integer" ? "whole number" : "number"}${bounds(schema)}`;
    case "string":
      return schema.format === undefined ? "text" : (FORMATS[schema.format] ?? "text");
    case undefined:
      return "anything";
    default:
      return String(schema.type);
  }
}

const FORMATS: Readonly<Record<string, string>> = { "date-time": "time", uri: "address" };

function bounds({ minimum, maximum }: JsonSchema): string {
  const least = minimum === undefined || minimum === -UNBOUNDED ? undefined : minimum;
  const most = maximum === undefined || maximum === UNBOUNDED ? undefined : maximum;
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}`;
  if (least !== undefined) return `, at least ${least}`;
  return most === undefined ? "" : `, at most ${most}`;
}
