/** From a request to its handler: address, token, route, body; and from the handler's result or error to a response. */
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import type { z } from "zod";

import { MAX_BODY_BYTES, type Route, type RouteContext, type RouteRequest } from "../feature/route.ts";
import { CortexError } from "../model/errors.ts";
import { allows, type Caller, requireScope } from "../model/scopes.ts";
import type { Auth } from "./auth.ts";
import { errorReply } from "./errors.ts";
import { type Addresses, checkAddresses, secure } from "./guard.ts";
import { EVENT_STREAM } from "./stream.ts";

interface AppOptions {
  readonly routes: readonly Route[];
  readonly context: RouteContext;
  readonly auth: Auth;
  /** They change with `server.publicUrl`. */
  readonly addresses: () => Addresses;
  readonly log: (line: string) => void;
}

type App = Hono<{ Bindings: HttpBindings }>;
type AppRequest = Context<{ Bindings: HttpBindings }>;

export function createApp({ routes, context, auth, addresses, log }: AppOptions): App {
  const app: App = new Hono();
  const admit = (request: AppRequest): Promise<Caller> => auth.check(credentialsOf(request));

  const callerOf = async ({ needs, open }: Route, request: AppRequest): Promise<Caller> => {
    if (needs === "none" || open?.(request.req.query()) === true) return NOBODY;
    const caller = await admit(request);
    if (!allows(caller, needs)) auth.noteRefusal(caller, needs);
    requireScope(caller, needs);
    return caller;
  };
  const refuseMethod = (method: string, path: string, allowed: readonly string[]): Response => {
    const reply = errorReply(methodUnsupported(method, path, allowed), log);
    reply.headers.set("Allow", allowed.join(", "));
    return reply;
  };

  app.use(async (request, next) => {
    await next();
    secure(request.res);
  });
  app.use(async (request, next) => {
    const { url = "", headersDistinct } = request.env.incoming;
    const { host, origin } = headersDistinct;
    checkAddresses({ target: url, host, origin }, addresses());
    await next();
  });
  app.onError((error) => errorReply(error, log));

  app.get("/", (request) => request.html(WELCOME));
  app.on("GET", "/login/:secret", async (request) => {
    if (isHead(request)) return refuseMethod("HEAD", "/login/:secret", ["GET"]);
    request.header("Set-Cookie", await auth.redeem(request.req.param("secret"), addressOf(request)));
    return request.redirect("/");
  });
  for (const route of routes) {
    app.on(route.method, route.path, async (request) => {
      const received = context.cortex.spans.now();
      if (isHead(request) && isStream(route)) return refuseMethod("HEAD", route.path, ["GET"]);
      const caller = await callerOf(route, request);
      const mayContinue = (): Promise<boolean> => auth.isStillGood(credentialsOf(request));
      return answer(route, request, { received, caller, mayContinue }, context);
    });
  }
  for (const [path, same] of Map.groupBy(routes, ({ path }) => path)) {
    app.on("ALL", path, async (request) => {
      await admit(request);
      const allowed = same.map(({ method }) => method.toUpperCase());
      return refuseMethod(request.req.method, path, allowed);
    });
  }
  app.notFound(async (request) => {
    const { path } = request.req;
    if (path.startsWith("/api/")) await admit(request);
    throw routeUnknown(path);
  });
  return app;
}

/** Link scanners and chat previews send HEAD, which comes to the handler of GET: it must change and open nothing. */
function isHead({ req }: AppRequest): boolean {
  return req.method === "HEAD";
}

function isStream({ answers }: Route): boolean {
  return Object.values(answers).includes(EVENT_STREAM);
}

/** The caller of a route that needs no token. */
const NOBODY: Caller = { principal: "anyone", can: [] };

async function answer(
  route: Route,
  request: AppRequest,
  { received, caller, mayContinue }: Pick<RouteRequest, "received" | "caller" | "mayContinue">,
  context: RouteContext,
): Promise<Response> {
  const { req } = request;
  const query = parseAs("query", route.query, req.query());
  const body = route.body === undefined ? undefined : ((await readJson(req.raw, route.maxBodyBytes)) ?? {});
  const reply = await route.handle(
    {
      caller,
      params: req.param(),
      query,
      body: parseAs("body", route.body, body),
      bytes: () => readBytes(req.raw, route.maxBodyBytes),
      header: (name) => req.header(name),
      mayContinue,
      signal: req.raw.signal,
      received,
    },
    context,
  );
  return reply instanceof Response ? reply : Response.json(reply.body, { status: reply.status });
}

/** Reports every problem of a query or a body at once. */
function parseAs(what: string, schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  throw new CortexError("request_invalid", `Invalid request ${what}: ${problems.join("; ")}`, {
    hint: "GET /api/openapi.json describes the parameters of every path.",
  });
}

/** Undefined: the request has no body. */
async function readJson(request: Request, maxBytes?: number): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) return undefined;
  const type = request.headers.get("content-type") ?? "";
  // Browsers send this type for another site only after a preflight request.
  if (!/^application\/json *(;|$)/i.test(type))
    throw notJson(`Content-Type is ${JSON.stringify(type.slice(0, 80))}`);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch (error) {
    throw notJson((error as Error).message);
  }
}

async function readBytes({ headers, body }: Request, maxBytes = MAX_BODY_BYTES): Promise<Uint8Array> {
  if (Number(headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function credentialsOf(request: AppRequest) {
  const { req } = request;
  return {
    method: req.method,
    address: addressOf(request),
    authorization: req.header("authorization"),
    cookie: req.header("cookie"),
    origin: req.header("origin"),
    marker: req.header("x-cortex"),
    fetchSite: req.header("sec-fetch-site"),
  };
}

function addressOf(request: AppRequest): string {
  return request.env.incoming.socket.remoteAddress ?? "unknown";
}

function notJson(why: string): CortexError {
  return new CortexError("body_invalid", `The request body is not JSON: ${why}`, {
    hint: "Send JSON in UTF-8 with `Content-Type: application/json`.",
  });
}

function tooLarge(maxBytes: number): CortexError {
  return new CortexError("body_too_large", `The request body is larger than ${maxBytes} bytes`, {
    hint: "Split the request. Put large content in a file that the agent can read.",
  });
}

function methodUnsupported(method: string, path: string, allowed: readonly string[]): CortexError {
  return new CortexError("method_unsupported", `${path} does not support ${method}`, {
    hint: `Supported methods: ${allowed.join(", ")}.`,
  });
}

function routeUnknown(path: string): CortexError {
  return new CortexError("route_unknown", `Unknown path ${path.slice(0, 200)}`, {
    hint: "GET /api/openapi.json lists all paths.",
  });
}

/** What a person sees in a browser. */
const WELCOME = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Cortex</title></head>
<body>
<h1>Cortex is up</h1>
<p>Talk to it with <code>cortex chat</code> or <code>cortex send</code>.</p>
<p>Programs use the API: <code>docs/http-api.md</code> describes it, and <a href="/api/openapi.json">so does
OpenAPI</a> once this browser is logged in by the link that <code>cortex up</code> printed.</p>
</body>
</html>
`;
