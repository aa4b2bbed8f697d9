/** Whether a request to Discord is as Discord describes it: by `test/fixtures/discord-openapi.json`. */
import { readFileSync } from "node:fs";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Description {
  readonly requests: Readonly<Record<string, Schema | null>>;
  readonly schemas: Readonly<Record<string, Schema>>;
}

const { requests, schemas } = JSON.parse(
  readFileSync(new URL("../fixtures/discord-openapi.json", import.meta.url), "utf8"),
) as Description;

const KNOWN = Object.entries(requests).map(([request, schema]) => {
  const [method = "", path = ""] = request.split(" ");
  return {
    method: method.toUpperCase(),
    path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    schema,
  };
});

/** What is wrong with a request, in words. */
export function discordViolations(method: string, path: string, body: unknown): string[] {
  const at = `${method} ${path}`;
  const known = KNOWN.find((each) => each.method === method && each.path.test(path));
  if (known === undefined) return [`${at} is unknown`];
  if (known.schema === null) return body === undefined ? [] : [`${at} has a body`];
  return check(known.schema, body, at);
}

function check(schema: Schema, value: unknown, at: string): string[] {
  if (schema.$ref !== undefined) return check(schemas[schema.$ref.split("/").at(-1)!]!, value, at);
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives !== undefined) {
    const all = alternatives.map((each) => check(each, value, at));
    // Of what fits nothing, the alternative that comes closest.
    return all.find((each) => each.length === 0) ?? all.toSorted((a, b) => a.length - b.length)[0]!;
  }
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => isOfType(value, type)))
    return [`${at} is no ${types.join(" or ")}: ${JSON.stringify(value)}`];
  return [
    ...(schema.allOf ?? []).flatMap((each) => check(each, value, at)),
    ...limits(schema, value).map((what) => `${at} ${what}: ${JSON.stringify(value)}`),
    ...(Array.isArray(value) && schema.items !== undefined
      ? value.flatMap((each, index) => check(schema.items!, each, `${at}[${index}]`))
      : []),
    ...(schema.properties === undefined || value === null ? [] : fields(schema, value as object, at)),
  ];
}

function fields({ properties = {}, required = [] }: Schema, value: object, at: string): string[] {
  const missing = required.filter((name) => !(name in value)).map((name) => `${at} misses ${name}`);
  const wrong = Object.entries(value).flatMap(([name, each]) =>
    properties[name] === undefined
      ? [`${at} has no ${name}`]
      : check(properties[name], each, `${at}.${name}`),
  );
  return [...missing, ...wrong];
}

function limits(schema: Schema, value: unknown): string[] {
  const size =
    typeof value === "string" ? Array.from(value).length : Array.isArray(value) ? value.length : undefined;
  const { minLength, maxLength, minItems, maxItems } = schema;
  const [min = 0, max = Infinity] = Array.isArray(value) ? [minItems, maxItems] : [minLength, maxLength];
  const number = typeof value === "number" ? value : undefined;
  return [
    ...(size !== undefined && size < min ? ["is too short"] : []),
    ...(size !== undefined && size > max ? ["is too long"] : []),
    ...(number !== undefined && number < (schema.minimum ?? -Infinity) ? ["is too small"] : []),
    ...(number !== undefined && number > (schema.maximum ?? Infinity) ? ["is too large"] : []),
    ...(schema.enum !== undefined && !schema.enum.includes(value) ? ["is none of those allowed"] : []),
    ...(schema.const !== undefined && schema.const !== value ? ["is not the one allowed"] : []),
    ...(schema.pattern !== undefined && typeof value === "string" && !new RegExp(schema.pattern).test(value)
      ? ["does not fit its pattern"]
      : []),
  ];
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}
