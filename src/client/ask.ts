/** Requests to the server, over HTTP and with the token of its home. */
import type { IncomingMessage } from "node:http";

import { CortexError, type ErrorCode } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { type RunningServer, serverGone } from "./server.ts";
import { readServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";

// An import would load all of node:http, web sockets included, which takes 30 ms.
const { request: httpRequest } = process.getBuiltinModule("node:http");

export interface Request {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** Sent as JSON, without undefined fields. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

interface ServerAnswer<Body> {
  readonly status: number;
  readonly body: Body;
}

/**
 * Sends a request and reads the whole answer. `Body` is what the route declares: server and client are of one version.
 * Throws an error answer as the CortexError that the server reported.
 */
export async function ask<Body = Json>(server: RunningServer, request: Request): Promise<ServerAnswer<Body>> {
  try {
    const response = await open(server, request);
    const body: Body = JSON.parse((await readAll(response)) || "null");
    return { status: statusOf(response), body };
  } catch (error) {
    throw isConnectionLost(error) ? serverGone(server.home, error) : error;
  }
}

/** Whether the server is gone or was never there; it may be back in a moment. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && "code" in error && LOST.has(String(error.code));
}

const LOST: ReadonlySet<string> = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "server_missing"]);

/** Resolves once the server starts to answer. */
export async function listen(
  server: RunningServer,
  request: Request,
): Promise<AsyncGenerator<ServerSentEvent>> {
  const accepting = { ...request.headers, accept: "text/event-stream" };
  const response = await open(server, { ...request, headers: accepting });
  return readServerSentEvents(response.setEncoding("utf8"));
}

async function open(server: RunningServer, request: Request): Promise<IncomingMessage> {
  const response = await send(server, request);
  const status = statusOf(response);
  if (status < 400) return response;
  throw refused(status, await readAll(response));
}

function statusOf({ statusCode = 0 }: IncomingMessage): number {
  return statusCode; // always set on a response
}

function send(
  server: RunningServer,
  { method = "GET", path, body, headers, signal }: Request,
): Promise<IncomingMessage> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: server.host,
      port: server.port,
      method,
      path,
      // One connection per request: a kept-alive one would keep a finished process from exiting.
      agent: false,
      headers: {
        ...headers,
        authorization: `Bearer ${server.token}`,
        ...(payload === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(signal === undefined ? {} : { signal }),
    });
    request.on("response", resolve);
    request.on("error", reject);
    request.end(payload);
  });
}

async function readAll(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
  return text;
}

function refused(status: number, text: string): CortexError {
  try {
    const { error }: { error: { code: ErrorCode; message: string; hint: string } } = JSON.parse(text);
    return new CortexError(error.code, error.message, { hint: error.hint });
  } catch (cause) {
    return new CortexError(
      "request_invalid",
      `Unexpected response from the server, status ${status}: ${text.slice(0, 200)}`,
      {
        hint: "Run `cortex status` to check that this is a Cortex server of the same version.",
        cause,
      },
    );
  }
}
