/** Requests a web page and follows redirects, each of which is checked like the first URL. */
import type { LookupAddress } from "node:dns";
import { lookup as resolveName } from "node:dns/promises";
import { once } from "node:events";
import { type IncomingMessage, request as requestPlain, type RequestOptions } from "node:http";
import { request as requestSecure } from "node:https";
import { connect as connectPlain, isIP, type LookupFunction } from "node:net";
import { connect as connectSecure } from "node:tls";

import { CortexError } from "../../model/errors.ts";
import type { Permissions } from "../../model/permissions.ts";
import { type WebDestination, findDestination, type Lookup, parseUrl } from "./web-destination.ts";

export const MAX_REDIRECTS = 5;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Reveals nothing about the agent's owner. */
const HEADERS = {
  "user-agent": "Cortex/1 (agent; WebFetch)",
  accept: "text/html,application/json;q=0.9,text/*;q=0.8,*/*;q=0.5",
  "accept-encoding": "gzip, br",
} as const;

/** The real target of the connection. */
interface Route {
  readonly host: string;
  readonly port: number;
  readonly lookup?: LookupFunction;
}

export interface Web {
  readonly lookup: Lookup;
  /** Must lead to an address of the destination. Tests redirect it to their own server. */
  readonly route: (destination: WebDestination) => Route;
}

export const web: Web = {
  lookup: (host) => resolveName(host, { all: true }),
  route: ({ host, port, addresses }) => ({ host, port, lookup: pinnedTo(addresses) }),
};

export interface Page {
  readonly url: URL;
  readonly status: number;
  /** The caller reads or destroys the body. */
  readonly response: IncomingMessage;
}

export async function requestPage(
  text: string,
  { web: { lookup, route }, permissions, signal }: PageOptions,
): Promise<Page> {
  let url = parseUrl(text);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const found = findDestination(url, { permissions, lookup });
    const destination = await orAborted(found, signal);
    const response = await send(destination, route(destination), signal);
    const status = response.statusCode ?? 0; // set in every response of a server
    const { location } = response.headers;
    if (!REDIRECTS.has(status) || location === undefined) return { url, status, response };
    response.destroy();
    url = parseUrl(location, url);
  }
  throw new CortexError("tool_failed", `Too many redirects (limit ${MAX_REDIRECTS})`, {
    hint: "Pass the page's final URL.",
  });
}

interface PageOptions {
  readonly web: Web;
  readonly permissions: Permissions;
  readonly signal: AbortSignal;
}

/** Without an agent: a reused connection could lead elsewhere. */
async function send(
  { url, host }: WebDestination,
  route: Route,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const isSecure = url.protocol === "https:";
  const name = isIP(host) === 0 ? { servername: host } : {};
  const options: RequestOptions = {
    headers: { ...HEADERS, host: url.host },
    signal,
    createConnection: () => (isSecure ? connectSecure({ ...route, ...name }) : connectPlain({ ...route })),
  };
  const request = isSecure ? requestSecure(url, options) : requestPlain(url, options);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.on("response", resolve);
  request.on("error", reject); // stays: later errors are handled by the reader of the body
  request.on("upgrade", (_, socket) => {
    socket.destroy();
    reject(new Error("it switched protocols"));
  });
  request.end();
  try {
    return await promise;
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw noAnswer(host, cause);
  }
}

/** Always returns the checked addresses. Node tries them in order. */
function pinnedTo(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, answer) => {
    const [first] = addresses;
    if (all === true || first === undefined) answer(null, [...addresses]);
    else answer(null, first.address, first.family);
  };
}

/** The system's resolver cannot be canceled, so an abort stops waiting for it. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const settled = new AbortController();
  const aborted = once(signal, "abort", { signal: settled.signal });
  try {
    return await Promise.race([
      work,
      aborted.then(() => {
        throw signal.reason;
      }),
    ]);
  } finally {
    settled.abort();
    await Promise.allSettled([aborted]);
  }
}

function noAnswer(host: string, cause: unknown): CortexError {
  const why = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
  return new CortexError("tool_failed", `No response from host "${host}": ${why}`, {
    hint: "Check the URL, or retry later.",
    cause,
  });
}
