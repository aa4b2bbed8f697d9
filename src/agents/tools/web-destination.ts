/**
 * Resolves a URL, and decides whether an agent may connect to it.
 *
 * A name can resolve to any address, and to a different one a moment later. So it is resolved here, once, its addresses are
 * checked, and the connection is made to them and no others. Every redirect goes through the same check.
 */
import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";

import { CortexError } from "../../model/errors.ts";
import { allowsHost, type Permissions } from "../../model/permissions.ts";
import { truncate } from "../../model/truncate.ts";
import { isPublicAddress } from "./public-address.ts";

export const MAX_URL_LENGTH = 8192;

/** All addresses of a name. Rejects if there are none. */
export type Lookup = (host: string) => Promise<readonly LookupAddress[]>;

export interface WebDestination {
  readonly url: URL;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** Connections to all of them are allowed. */
  readonly addresses: readonly LookupAddress[];
}

export async function findDestination(
  url: URL,
  { permissions, lookup }: { readonly permissions: Permissions; readonly lookup: Lookup },
): Promise<WebDestination> {
  checkUrl(url);
  const name = nameIn(url);
  if (!allowsHost(permissions, name)) throw notAllowed(name);
  const host = name.replace(/^\[(.*)\]$/, "$1");
  const addresses = await resolve(host, lookup);
  const forbidden = addresses.find(({ address }) => !isPublicAddress(address));
  if (forbidden !== undefined && !namesHost(permissions, name)) throw notPublic(host, forbidden.address);
  return { url, host, port: portOf(url), addresses };
}

export function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url !== null) return url;
  throw new CortexError("tool_input_invalid", `${quote(text)} is not a URL`, {
    hint: "Pass a complete URL, such as https://example.com/page.",
  });
}

function checkUrl({ href, protocol, username, password }: URL): void {
  if (protocol !== "http:" && protocol !== "https:")
    throw new CortexError("tool_input_invalid", `${quote(href)} is neither http nor https`, {
      hint: "Only web pages can be fetched. For files, use Read.",
    });
  if (username !== "" || password !== "")
    throw new CortexError("tool_input_invalid", "URLs with a user name or password are not allowed", {
      hint: "Remove everything before the @.",
    });
}

/** In the form of permissions: IPv6 addresses in brackets, no trailing dot. */
function nameIn({ hostname, href }: URL): string {
  const name = hostname.replace(/\.$/, "");
  if (name !== "") return name;
  throw new CortexError("tool_input_invalid", `${quote(href)} has no host`, {
    hint: "Pass a complete URL, such as https://example.com/page.",
  });
}

function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

async function resolve(host: string, lookup: Lookup): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  try {
    const addresses = await lookup(host);
    if (addresses.length > 0) return addresses;
  } catch (cause) {
    throw notFound(host, cause);
  }
  throw notFound(host);
}

/**
 * Whether every list of permissions names exactly this host: the owner's exception for their own machines. A wildcard
 * pattern never counts, not even for a host with a star in its name.
 */
function namesHost({ hosts }: Permissions, name: string): boolean {
  return !name.includes("*") && hosts.length > 0 && hosts.every((patterns) => patterns.includes(name));
}

function notAllowed(host: string): CortexError {
  return new CortexError("host_forbidden", `Host ${quote(host)} is not allowed for this agent`, {
    hint: "The persona's `permissions.hosts` lists the allowed hosts. Ask the user if you need this one.",
  });
}

function notPublic(host: string, address: string): CortexError {
  const leads = host === address ? "" : `, at ${address},`;
  return new CortexError("host_forbidden", `The host ${quote(host)}${leads} is not on the public internet`, {
    hint: "A host on the local network is allowed only if the persona's `permissions.hosts` contains its full name, without a wildcard.",
  });
}

function notFound(host: string, cause?: unknown): CortexError {
  return new CortexError("tool_failed", `Cannot resolve host ${quote(host)}`, {
    hint: "Check the host's spelling.",
    cause,
  });
}

/** Enough to recognize a URL. */
const MAX_SHOWN = 200;

function quote(text: string): string {
  return JSON.stringify(truncate(text, MAX_SHOWN));
}
