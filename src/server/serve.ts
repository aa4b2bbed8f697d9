/** Cortex over HTTP: listens, records its address for other programs, and closes without cutting requests off. */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";

import { readVersion } from "../config/version.ts";
import { CortexError } from "../model/errors.ts";
import type { Cortex } from "../feature/cortex.ts";
import type { Feature } from "../feature/feature.ts";
import { FEATURES } from "../runtime/features.ts";
import { serverNotePath, tokenPath } from "../config/home.ts";
import { LoopMonitor } from "./loop-delay.ts";
import type { RouteContext } from "../feature/route.ts";
import { isoTime } from "../feature/views.ts";
import { createApp } from "./app.ts";
import { Auth } from "./auth.ts";
import { errorReply } from "./errors.ts";
import { type Addresses, allowedAddresses, inUrl, isLoopback, secure } from "./guard.ts";
import { removeNote, writeNote } from "./note.ts";
import { loadRoutes } from "./routes.ts";
import { openToken, type Token } from "./token.ts";

interface ListenOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Receives one-line warnings. */
  readonly log: (line: string) => void;
}

export interface ServeOptions extends ListenOptions {
  /** The port, if it is already open. */
  readonly opened?: OpenPort;
  readonly clock?: () => number;
  readonly waitMs?: number;
  readonly heartbeatMs?: number;
  /** Default: all features. */
  readonly features?: readonly Feature[];
}

export interface CortexServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** A link that logs one browser in, once. */
  loginLink(): string;
}

/** A request with `wait` is answered after this long even if the turn still runs. */
const WAIT_MS = 10 * 60_000;
/** Proxies and browsers drop connections that are silent for longer. */
const HEARTBEAT_MS = 15_000;
/** How long open requests may take when the server closes. */
const CLOSE_MS = 2_000;
/** Streams and waiting requests each hold a connection. */
const MAX_CONNECTIONS = 2_048;

/** A listening port. Requests wait until `serve` is called. */
export interface OpenPort extends AsyncDisposable {
  readonly server: Server;
  readonly port: number;
  readonly token: Token;
  serve(listener: RequestListener): void;
}

/** Opens the port before Cortex begins any visible work, so that a failure to listen leaves nothing behind. */
export async function openPort(home: string, { host, port, log }: ListenOptions): Promise<OpenPort> {
  const token = await openToken(tokenPath(home), log);
  checkBind(host, token.isProtected());
  if (!isLoopback(host)) log(`${host} is reachable over plain HTTP; put it behind a TLS proxy.`);
  const server = createServer({ requireHostHeader: false }); // a missing Host is refused with our own error
  server.maxConnections = MAX_CONNECTIONS;
  const listener = Promise.withResolvers<RequestListener>();
  server.on("request", (incoming, outgoing) => {
    void listener.promise.then((serve) => serve(incoming, outgoing));
  });
  return {
    server,
    port: await listen(server, host, port),
    token,
    serve: listener.resolve,
    [Symbol.asyncDispose]: () => close(server),
  };
}

export async function serve(cortex: Cortex, options: ServeOptions): Promise<CortexServer> {
  const { host, log, clock = Date.now } = options;
  const opened = options.opened ?? (await openPort(cortex.home, options));
  const { server, port, token } = opened;
  const closing = new AbortController();
  const startedAtMs = clock();
  const loop = new LoopMonitor();
  const reachable = reachableAt(host);
  const auth = new Auth({ token: token.read, store: cortex.store, clock, port, log });
  await auth.noteMainToken();
  const { routes } = await loadRoutes(options.features ?? FEATURES);
  const context: RouteContext = {
    cortex,
    clock,
    version: readVersion(),
    startedAtMs,
    waitMs: options.waitMs ?? WAIT_MS,
    heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
    closing: closing.signal,
    loop: () => loop.read(),
    streams: new Set(),
  };
  const addresses = followAddresses(reachable, port, () => cortex.config().server.publicUrl);
  const app = createApp({ routes, context, auth, addresses, log });
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: (error) => secure(errorReply(requestInvalid(error), log)),
  });
  opened.serve((incoming, outgoing) => {
    // Clients keep connections open after a reply, which would delay closing.
    outgoing.once("close", () => closing.signal.aborted && server.closeIdleConnections());
    void listener(incoming, outgoing);
  });

  const notePath = serverNotePath(cortex.home);
  const note = { pid: process.pid, startedAt: isoTime(startedAtMs), host: reachable, port };
  const stop = async (): Promise<void> => {
    closing.abort();
    loop[Symbol.dispose]();
    await close(server);
  };
  try {
    await writeNote(notePath, note);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = `http://${inUrl(reachable)}:${port}`;
  let closed: Promise<void> | undefined;
  return {
    url,
    port,
    loginLink: () => `${url}/login/${auth.makeLink()}`,
    [Symbol.asyncDispose]: () => (closed ??= removeNote(notePath, note).then(stop)),
  };
}

/** The addresses of the server, made anew when the public one changes. */
function followAddresses(host: string, port: number, publicUrl: () => string | undefined): () => Addresses {
  let made: { readonly url: string | undefined; readonly addresses: Addresses } | undefined;
  return () => {
    const url = publicUrl();
    if (made === undefined || made.url !== url) made = { url, addresses: allowedAddresses(host, port, url) };
    return made.addresses;
  };
}

/** A port that other machines can reach must have a token that only its owner can read. */
export function checkBind(host: string, isTokenProtected: boolean): void {
  if (isLoopback(host) || isTokenProtected) return;
  throw new CortexError(
    "token_unsafe",
    `Cannot listen on ${host}: other users of this machine can read the token`,
    {
      hint: "Put the home on a file system that keeps permissions, or listen on 127.0.0.1.",
    },
  );
}

/** A wildcard address is reached through loopback. */
function reachableAt(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen(port, host, listening.resolve);
  try {
    await listening.promise;
  } catch (error) {
    throw listenFailed(host, port, error as NodeJS.ErrnoException);
  }
  server.off("error", listening.reject);
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
  await closed;
  clearTimeout(timer);
}

function listenFailed(host: string, port: number, cause: NodeJS.ErrnoException): CortexError {
  const address = `${inUrl(host)}:${port}`;
  if (cause.code === "EADDRINUSE") {
    return new CortexError("port_in_use", `Another process is listening on ${address}`, {
      hint: "Stop it, or choose another port: `cortex up --port 4748`.",
      cause,
    });
  }
  return new CortexError("config_invalid", `Cannot listen on ${address}: ${cause.message}`, {
    hint: "Check `server.host` and `server.port` in cortex.json, or --host and --port.",
    cause,
  });
}

function requestInvalid(cause: unknown): unknown {
  if (!(cause instanceof Error) || cause.name !== "RequestError") return cause;
  return new CortexError("request_invalid", `Cannot read the request: ${cause.message}`, {
    hint: "Check its Host header and its path.",
    cause,
  });
}
