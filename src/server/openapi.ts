import { z } from "zod";

import type { Route } from "../feature/route.ts";
import { schemas } from "./api.ts";

const NAMES = new Map<z.ZodType, string>(
  Object.entries(schemas).map(([name, schema]): [z.ZodType, string] => [schema, name]),
);
const JSON_TYPE = "application/json";

/** The OpenAPI document of a table of routes. */
export function describeApi(routes: readonly Route[], version: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    (paths[templateOf(route.path)] ??= {})[route.method] = describeRoute(route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Cortex", version },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: describeSchemas(),
    },
  };
}

/** `/api/turns/:id` is `/api/turns/{id}` in OpenAPI. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}");
}

function describeRoute({ path, summary, open, query, body, answers }: Route) {
  const success = Object.entries(answers).map(([status, answer]) => [status, describeAnswer(answer)]);
  return {
    summary,
    ...(open === undefined ? {} : { security: open === true ? [] : [{}, { token: [] }] }),
    parameters: [...pathParameters(path), ...queryParameters(query)],
    ...(body === undefined ? {} : { requestBody: { required: true, content: jsonOf(body) } }),
    responses: {
      ...Object.fromEntries(success),
      default: { description: "An error", content: jsonOf(schemas.Error) },
    },
  };
}

function describeAnswer(answer: Route["answers"][number]) {
  const content = typeof answer === "string" ? { [answer]: { schema: { type: "string" } } } : jsonOf(answer);
  return { description: "Done", content };
}

function jsonOf(schema: z.ZodType) {
  const name = NAMES.get(schema);
  if (name === undefined) throw new Error("A route uses a schema that has no name in api.ts");
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

function describeSchemas() {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of NAMES) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: "input", uri: refTo });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $id: _id, $schema: _schema, ...schema }]) => [name, schema]),
  );
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`;
}
