import { z } from "zod";

import { coreSchemas } from "../feature/api.ts";
import type { Route, RouteTable } from "../feature/route.ts";

const JSON_TYPE = "application/json";

/** The names of schemas. */
type Names = ReadonlyMap<z.ZodType, string>;

/** The OpenAPI document of a table of routes. */
export function describeApi({ routes, schemas }: RouteTable, version: string) {
  const names: Names = new Map(Object.entries(schemas).map(([name, schema]) => [schema, name]));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    (paths[templateOf(route.path)] ??= {})[route.method] = describeRoute(route, names);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Cortex", version },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: describeSchemas(names),
    },
  };
}

/** `/api/turns/:id` is `/api/turns/{id}` in OpenAPI. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}");
}

function describeRoute({ path, needs, summary, open, query, body, answers }: Route, names: Names) {
  const success = Object.entries(answers).map(([status, answer]) => [status, describeAnswer(answer, names)]);
  return {
    summary,
    "x-cortex-needs": needs,
    ...(needs === "none" ? { security: [] } : open === undefined ? {} : { security: [{}, { token: [] }] }),
    parameters: [...pathParameters(path), ...queryParameters(query)],
    ...(body === undefined ? {} : { requestBody: { required: true, content: jsonOf(body, names) } }),
    responses: {
      ...Object.fromEntries(success),
      default: { description: "An error", content: jsonOf(coreSchemas.Error, names) },
    },
  };
}

function describeAnswer(answer: Route["answers"][number], names: Names) {
  const content =
    typeof answer === "string" ? { [answer]: { schema: { type: "string" } } } : jsonOf(answer, names);
  return { description: "Done", content };
}

function jsonOf(schema: z.ZodType, names: Names) {
  const name = names.get(schema);
  if (name === undefined) throw new Error("A route uses a schema that its table does not name");
  return { [JSON_TYPE]: { schema: { $ref: refTo(name) } } };
}

function pathParameters(path: string) {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(query: z.ZodObject | undefined) {
  if (query === undefined) return [];
  const { properties = {} } = z.toJSONSchema(query, { io: "output" });
  return Object.entries(properties).map(([name, schema]) => ({ name, in: "query", required: false, schema }));
}

function describeSchemas(names: Names) {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: "input", uri: refTo });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $id: _id, $schema: _schema, ...schema }]) => [name, schema]),
  );
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`;
}
