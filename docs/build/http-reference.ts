/** Generates the HTTP reference from the server's OpenAPI description. */
import { STATUS } from "../../src/server/errors.ts";
import { describeApi } from "../../src/server/openapi.ts";
import { FEATURES } from "../../src/runtime/features.ts";
import { loadRoutes } from "../../src/server/routes.ts";
import { type Field, fieldsOf, type JsonSchema, typeOf } from "./json-schema.ts";
import { code, plain, sentence, table } from "./markdown.ts";

const HEAD = `# HTTP reference

The content of \`GET /api/openapi.json\` in readable form. [The HTTP API](../http-api.md) explains authentication and usage, with an
example of every request.`;

const ERRORS = `Failures return an [Error](#error), whose \`code\` is one of [the error codes](../errors.md). The table shows the HTTP
status of each code; all others have status 500.`;

const SCHEMAS = `The JSON schemas of requests and responses. Fields with an asterisk are required in requests and always present in responses.`;

interface RouteDescription {
  readonly summary: string;
  readonly security?: readonly object[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: JsonSchema;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

export async function httpReference(): Promise<string> {
  const { paths, components } = describeApi(await loadRoutes(FEATURES), "");
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, route]) =>
      describeRoute(path, method, route as RouteDescription),
    ),
  );
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) =>
    describeSchema(name, schema as JsonSchema),
  );
  return [
    HEAD,
    "## Requests",
    ...described,
    "## Errors",
    ERRORS,
    errorTable(),
    "## Schemas",
    SCHEMAS,
    ...schemas,
    "",
  ].join("\n\n");
}

function describeRoute(path: string, method: string, route: RouteDescription): string[] {
  const { summary, security, parameters, requestBody, responses } = route;
  const answers = Object.entries(responses)
    .filter(([status]) => status !== "default")
    .map(([status, { content }]) => `${status} ${typeOfContent(content)}`);
  const facts = [
    ...(requestBody === undefined ? [] : [`- Body: ${typeOfContent(requestBody.content)}`]),
    `- Answers: ${answers.join(", ")}`,
    ...(security === undefined ? [] : [`- ${security.length === 0 ? "Needs" : "May need"} no token`]),
  ];
  return [
    `### ${code(`${method.toUpperCase()} ${path}`)}`,
    sentence(plain(summary)),
    ...(parameters.length === 0 ? [] : [parameterTable(parameters)]),
    facts.join("\n"),
  ];
}

function parameterTable(parameters: readonly Parameter[]): string {
  return table(
    ["parameter", "in", "type", "description"],
    parameters.map(({ name, in: where, schema }) => [
      code(name),
      where,
      typeOf(schema, linkTo),
      describeField({ path: name, schema, isRequired: false }),
    ]),
  );
}

function describeSchema(name: string, schema: JsonSchema): string[] {
  const alternatives = (schema.anyOf ?? [schema]).map((each) => describeShape(each).join("\n\n"));
  return [`### ${name}`, alternatives.join("\n\nOr:\n\n")];
}

function describeShape(schema: JsonSchema): string[] {
  const about = schema.description === undefined ? [] : [sentence(plain(schema.description))];
  const isOpen = schema.properties === undefined;
  return [...about, isOpen ? sentence(typeOf(schema, linkTo)) : fieldTable(fieldsOf(schema))];
}

function fieldTable(fields: readonly Field[]): string {
  return table(
    ["field", "type", "description"],
    fields.map((field) => [
      `${code(field.path)}${field.isRequired ? "\\*" : ""}`,
      typeOf(field.schema, linkTo),
      describeField(field),
    ]),
  );
}

function describeField({ schema }: Field): string {
  const about = plain(schema.description ?? "");
  if (schema.default === undefined) return about;
  return `${about} Default: ${code(JSON.stringify(schema.default))}.`.trim();
}

function typeOfContent(content: Content): string {
  return Object.entries(content)
    .map(([type, { schema }]) => (schema.$ref === undefined ? code(type) : typeOf(schema, linkTo)))
    .join(" or ");
}

function linkTo(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

function errorTable(): string {
  const byStatus = Map.groupBy(Object.entries(STATUS), ([, status]) => status);
  return table(
    ["status", "codes"],
    [...byStatus].map(([status, codes]) => [String(status), codes.map(([name]) => code(name)).join(", ")]),
  );
}
