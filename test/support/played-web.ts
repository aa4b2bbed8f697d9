/** The web, played by one server on loopback: every name leads to it, whatever address the name is given. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";

import type { Web } from "../../src/agents/tools/web-request.ts";

export type Site = (response: ServerResponse, request: IncomingMessage) => void;

export interface PlayedWeb extends AsyncDisposable {
  readonly web: Web;
  readonly port: number;
  /** The names that were looked up. */
  readonly lookups: string[];
  /** The addresses that were connected to, as far as the other side knows. */
  readonly reached: string[];
  readonly received: { readonly url: string; readonly headers: IncomingHttpHeaders }[];
}

/** Somewhere out in the world. */
export const PUBLIC_ADDRESS = "93.184.215.14";

/** A name that is not given one has a public address. Where there are several answers, each is given once. */
export async function playWeb(
  site: Site,
  names: Readonly<Record<string, readonly (readonly string[])[]>> = {},
): Promise<PlayedWeb> {
  const lookups: string[] = [];
  const reached: string[] = [];
  const received: PlayedWeb["received"] = [];
  const server = createServer((request, response) => {
    received.push({ url: request.url!, headers: request.headers });
    response.on("error", () => {}); // the other end may be gone before the answer is
    site(response, request);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const web: Web = {
    async lookup(host) {
      lookups.push(host);
      const answers = names[host] ?? [[PUBLIC_ADDRESS]];
      const times = lookups.filter((each) => each === host).length;
      return answers[Math.min(times, answers.length) - 1]!.map((address) => ({
        address,
        family: isIP(address),
      }));
    },
    route({ addresses }) {
      reached.push(...addresses.map(({ address }) => address));
      return { host: "127.0.0.1", port };
    },
  };
  return {
    web,
    port,
    lookups,
    reached,
    received,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

export function page(type: string, body: string | Buffer, headers: Record<string, string> = {}): Site {
  return (response) => void response.writeHead(200, { "content-type": type, ...headers }).end(body);
}

export const redirectTo =
  (location: string, status = 302): Site =>
  (response) =>
    void response.writeHead(status, { location }).end();
