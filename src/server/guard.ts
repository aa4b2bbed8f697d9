/**
 * Protects browsers. A page of another site can make a browser send requests here, which its Origin gives away, or
 * point a name of its own here (DNS rebinding), which its Host gives away: both are compared exactly with short lists.
 * The headers of every response keep pages of ours from loading or running anything else.
 */
import { CortexError } from "../model/errors.ts";

export interface Addresses {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];
const HTTP_PORT = 80;

/** With `publicUrl`, those of a proxy too. */
export function allowedAddresses(host: string, port: number, publicUrl?: string): Addresses {
  const names = [...LOOPBACK, host].map((name) => inUrl(name.toLowerCase()));
  const bare = port === HTTP_PORT ? names : []; // the usual port is not written
  const hosts = [...names.map((name) => `${name}:${port}`), ...bare];
  const origins = hosts.map((host) => `http://${host}`);
  if (publicUrl === undefined) return { hosts: new Set(hosts), origins: new Set(origins) };
  const proxy = new URL(publicUrl);
  return { hosts: new Set([...hosts, proxy.host]), origins: new Set([...origins, proxy.origin]) };
}

export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host) || /^127(\.\d{1,3}){3}$/.test(host);
}

/** An address as written in a URL: IPv6 in brackets. */
export function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

export interface Addressed {
  /** Must be a path: only proxies are sent whole URLs, and those can name another host. */
  readonly target: string;
  /** Every value that was sent: if two differ, neither can be trusted. */
  readonly host: readonly string[] | undefined;
  readonly origin: readonly string[] | undefined;
}

export function checkAddresses({ target, host, origin }: Addressed, { hosts, origins }: Addresses): void {
  if (!target.startsWith("/")) throw foreign("request", [target]);
  if (host?.length !== 1 || !hosts.has(host[0]!.toLowerCase())) throw foreign("header Host", host);
  if (origin !== undefined && (origin.length !== 1 || !origins.has(origin[0]!.toLowerCase())))
    throw foreign("header Origin", origin);
}

/** Does not reveal the names that are served. */
function foreign(part: string, values: readonly string[] | undefined): CortexError {
  const shown = values === undefined ? "none" : JSON.stringify(values.join(", ").slice(0, 80));
  return new CortexError("origin_forbidden", `Unknown address in the ${part}: ${shown}`, {
    hint: "Use the address that `cortex up` prints, or set `server.host` or `server.publicUrl` in cortex.json.",
  });
}

/** Loads nothing from elsewhere, runs only our own files, and cannot be framed. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** Adds the headers that every response carries. */
export function secure(response: Response): Response {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
  return response;
}
