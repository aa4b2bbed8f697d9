/** How the server is asked: over HTTP, with the token of its home. */
import type { IncomingMessage } from "node:http";

import { CortexError, type ErrorCode } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { type RunningServer, serverGone } from "./server.ts";
import { readServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";

// An import would also load what node:http only gives on request, web sockets and all, for 30 ms.
const { request: httpRequest } = process.getBuiltinModule("node:http");

export interface Request {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** Becomes JSON; what is undefined is left out. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Asks and reads the answer. What the server refuses is thrown in its own words. */
export async function ask(server: RunningServer, request: Request): Promise<{ status: number; body: Json }> {
  try {
    const response = await open(server, request);
    return { status: response.statusCode!, body: JSON.parse((await readAll(response)) || "null") as Json };
  } catch (error) {
    throw isConnectionLost(error) ? serverGone(server.home, error) : error;
  }
}

/** Whether the server went away, or was not there: it may be back in a moment. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && "code" in error && LOST.has(String(error.code));
}

const LOST: ReadonlySet<string> = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "server_missing"]);

/** Resolves when the server has begun to answer. */
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
  if (response.statusCode! < 400) return response;
  throw refused(response.statusCode!, await readAll(response));
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
      // One connection a request: a process that is done must not wait for one that is kept open.
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
  for await (const chunk of response.setEncoding("utf8")) text += chunk as string;
  return text;
}

function refused(status: number, text: string): CortexError {
  try {
    const { error } = JSON.parse(text) as { error: { code: ErrorCode; message: string; hint: string } };
    return new CortexError(error.code, error.message, { hint: error.hint });
  } catch (cause) {
    return new CortexError("request_invalid", `The server answered with ${status}: ${text.slice(0, 200)}`, {
      hint: "Is it a Cortex of the same version? `cortex status` says where it runs.",
      cause,
    });
  }
}
