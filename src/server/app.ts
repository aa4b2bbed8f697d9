/** From a request to its handler: address, token, route, body; and from whatever comes of it to a response. */
import type { HttpBindings } from "@hono/node-server";
import { type Context as HonoContext, Hono } from "hono";

import { CortexError } from "../model/errors.ts";
import type { Instant } from "../model/spans.ts";
import type { Auth } from "./auth.ts";
import { readBody, readBytes } from "./body.ts";
import { errorReply } from "./errors.ts";
import { type Addresses, checkAddresses } from "./guard.ts";
import { secure, WELCOME } from "./pages.ts";
import { parseAs } from "./request.ts";
import { EVENT_STREAM } from "./stream.ts";
import type { Context, Route } from "../feature/route.ts";

interface AppOptions {
  readonly routes: readonly Route[];
  readonly context: Context;
  readonly auth: Auth;
  readonly addresses: Addresses;
  readonly log: (line: string) => void;
}

type Request = HonoContext<{ Bindings: HttpBindings }>;

export function createApp({
  routes,
  context,
  auth,
  addresses,
  log,
}: AppOptions): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const unsupported = (method: string, path: string, allowed: string): Response => {
    const reply = errorReply(methodUnsupported(method, path, allowed), log);
    reply.headers.set("Allow", allowed);
    return reply;
  };
  const admit = (request: Request): Promise<void> => auth.check(credentialsOf(request));

  app.use(async (request, next) => {
    await next();
    secure(request.res);
  });
  app.use(async (request, next) => {
    const { url = "", headersDistinct } = request.env.incoming;
    checkAddresses(
      { target: url, host: headersDistinct["host"], origin: headersDistinct["origin"] },
      addresses,
    );
    await next();
  });
  app.onError((error) => errorReply(error, log));

  app.get("/", (request) => request.html(WELCOME));
  app.on("GET", "/login/:secret", async (request) => {
    if (isHead(request)) return unsupported(request.req.method, "/login/:secret", "GET");
    const cookie = await auth.redeem(request.req.param("secret"), addressOf(request));
    request.header("Set-Cookie", cookie);
    return request.redirect("/");
  });
  for (const route of routes) {
    app.on(route.method, route.path, async (request) => {
      const received = context.cortex.spans.now();
      if (isHead(request) && isStream(route)) return unsupported("HEAD", route.path, "GET");
      if (!isOpen(route, request.req.query())) await admit(request);
      return answer(route, request, received, context);
    });
  }
  for (const [path, same] of Map.groupBy(routes, ({ path }) => path)) {
    app.on("ALL", path, async (request) => {
      await admit(request);
      const allowed = same.map(({ method }) => method.toUpperCase()).join(", ");
      return unsupported(request.req.method, path, allowed);
    });
  }
  app.notFound(async (request) => {
    const { path } = request.req;
    try {
      if (path.startsWith("/api/")) await admit(request);
      throw routeUnknown(path);
    } catch (error) {
      return errorReply(error, log);
    }
  });
  return app;
}

/** It comes to the handler of GET. Scanners of links and previews of chats send it: it must change and open nothing. */
function isHead({ req }: Request): boolean {
  return req.method === "HEAD";
}

function isStream({ answers }: Route): boolean {
  return Object.values(answers).includes(EVENT_STREAM);
}

function isOpen({ open = () => false }: Route, query: Record<string, string>): boolean {
  return open === true || open(query);
}

async function answer(
  route: Route,
  request: Request,
  received: Instant,
  context: Context,
): Promise<Response> {
  const { req } = request;
  const query = parseAs("query", route.query, req.query());
  const body = route.body === undefined ? undefined : ((await readBody(req.raw, route.maxBodyBytes)) ?? {});
  const reply = await route.handle(
    {
      params: req.param(),
      query,
      body: parseAs("body", route.body, body),
      bytes: () => readBytes(req.raw),
      header: (name) => req.header(name),
      signal: req.raw.signal,
      received,
    },
    context,
  );
  return reply instanceof Response ? reply : Response.json(reply.body, { status: reply.status });
}

function credentialsOf(request: Request) {
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

function addressOf(request: Request): string {
  return request.env.incoming.socket.remoteAddress ?? "unknown";
}

function methodUnsupported(method: string, path: string, allowed: string): CortexError {
  return new CortexError("method_unsupported", `${path} has no method ${method}`, {
    hint: `It has ${allowed}.`,
  });
}

function routeUnknown(path: string): CortexError {
  return new CortexError("route_unknown", `There is nothing at ${path.slice(0, 200)}`, {
    hint: "GET /api/openapi.json lists all that there is.",
  });
}
