/**
 * Which addresses a request may come by. A page of another site can make a browser send requests here, and
 * a name of its own can be made to point here (DNS rebinding): the one is told by its Origin, the other by
 * its Host. Both are compared with short lists, exactly.
 */
import { CortexError } from "../model/errors.ts";

export interface Addresses {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];
const HTTP_PORT = 80;

export function allowedAddresses(host: string, port: number): Addresses {
  const names = [...LOOPBACK, host].map((name) => inUrl(name.toLowerCase()));
  const bare = port === HTTP_PORT ? names : []; // the usual port is not written
  const hosts = new Set([...names.map((name) => `${name}:${port}`), ...bare]);
  return { hosts, origins: new Set([...hosts].map((host) => `http://${host}`)) };
}

export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host) || /^127(\.\d{1,3}){3}$/.test(host);
}

/** An address as it stands in a URL: those of IPv6 in brackets. */
export function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

export interface Addressed {
  /** What is asked for: a path. Only proxies are asked for whole URLs, and those may name another host. */
  readonly target: string;
  /** Each header as often as it was sent: of two that differ, nobody can say which one counts. */
  readonly host: readonly string[] | undefined;
  readonly origin: readonly string[] | undefined;
}

export function checkAddresses({ target, host, origin }: Addressed, { hosts, origins }: Addresses): void {
  if (!target.startsWith("/")) throw foreign("request", [target]);
  if (host?.length !== 1 || !hosts.has(host[0]!.toLowerCase())) throw foreign("header Host", host);
  if (origin !== undefined && (origin.length !== 1 || !origins.has(origin[0]!.toLowerCase())))
    throw foreign("header Origin", origin);
}

/** Which names are served is not for everybody to know. */
function foreign(part: string, values: readonly string[] | undefined): CortexError {
  const shown = values === undefined ? "nothing" : JSON.stringify(values.join(", ").slice(0, 80));
  return new CortexError("origin_forbidden", `The ${part} names ${shown}, which is not served here`, {
    hint: "Use the address that `cortex up` prints. `server.host` in cortex.json adds a name.",
  });
}
