/**
 * Where a URL leads, and whether an agent may go there.
 *
 * A name can stand for any address and for another one a moment later. So it is resolved here, once, the
 * addresses are judged, and the connection is made to those and to no others. Every redirect comes through
 * here again.
 */
import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";

import { CortexError } from "../../model/errors.ts";
import { allowsHost, type Permissions } from "../../model/permissions.ts";
import { isPublicAddress } from "./public-address.ts";

export const MAX_URL_LENGTH = 8192;

/** All addresses of a name. Rejects where there are none. */
export type Lookup = (host: string) => Promise<readonly LookupAddress[]>;

export interface Destination {
  readonly url: URL;
  /** Without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
  /** All of them may be connected to. */
  readonly addresses: readonly LookupAddress[];
}

export async function findDestination(
  url: URL,
  { permissions, lookup }: { readonly permissions: Permissions; readonly lookup: Lookup },
): Promise<Destination> {
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
    hint: "Give a whole URL, like https://example.com/page.",
  });
}

function checkUrl({ href, protocol, username, password }: URL): void {
  if (protocol !== "http:" && protocol !== "https:")
    throw new CortexError("tool_input_invalid", `${quote(href)} is neither http nor https`, {
      hint: "Only web pages can be fetched. Files are for Read.",
    });
  if (username !== "" || password !== "")
    throw new CortexError("tool_input_invalid", "A URL with a user name or password in it is not fetched", {
      hint: "Leave out what stands before the @.",
    });
}

/** As in permissions: an address of IPv6 is in brackets, and there is no dot at the end. */
function nameIn({ hostname, href }: URL): string {
  const name = hostname.replace(/\.$/, "");
  if (name !== "") return name;
  throw new CortexError("tool_input_invalid", `${quote(href)} names no host`, {
    hint: "Give a whole URL, like https://example.com/page.",
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
 * Whether whoever set the permissions meant this very host, in every list: that is the owner's exception for a
 * machine of theirs. A pattern with a star never is, not even for a host that has the star in its name.
 */
function namesHost({ hosts }: Permissions, name: string): boolean {
  return !name.includes("*") && hosts.length > 0 && hosts.every((patterns) => patterns.includes(name));
}

function notAllowed(host: string): CortexError {
  return new CortexError("host_forbidden", `This agent may not reach the host ${quote(host)}`, {
    hint: "Hosts are allowed in `permissions.hosts` of the persona. Ask the user if it is needed.",
  });
}

function notPublic(host: string, address: string): CortexError {
  const leads = host === address ? "" : `, at ${address},`;
  return new CortexError("host_forbidden", `The host ${quote(host)}${leads} is not on the public internet`, {
    hint: "A host of the own network is reached only where `permissions.hosts` of the persona names it in full, without a star.",
  });
}

function notFound(host: string, cause?: unknown): CortexError {
  return new CortexError("tool_failed", `No address was found for the host ${quote(host)}`, {
    hint: "Check how it is spelt.",
    cause,
  });
}

/** Enough of a URL to recognise it by. */
const MAX_SHOWN = 200;

function quote(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
