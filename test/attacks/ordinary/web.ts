/** The web as an owner finds it: any page they ask for, and a search service that finds five pages for anything. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface OrdinaryWeb extends AsyncDisposable {
  readonly url: string;
}

const FOUND = 5;

export async function openWeb(): Promise<OrdinaryWeb> {
  const server = createServer(({ url = "/", headers }, response) => {
    const { pathname, searchParams } = new URL(url, `http://${headers.host}`);
    if (pathname === "/search") {
      const query = searchParams.get("q") ?? "";
      const base = `http://${headers.host}/${slugOf(query)}`;
      const results = Array.from({ length: FOUND }, (_, at) => ({
        title: `${query}, page ${at + 1}`,
        url: `${base}/${at + 1}`,
        snippet: `What there is to say about ${query}.`,
      }));
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ results }));
      return;
    }
    const page = `<title>${pathname}</title><p>All about it. <a href="${pathname}/more">More</a>, <a href="${pathname}/api">API</a>`;
    response.writeHead(200, { "content-type": "text/html" }).end(page);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** How the pages that are found for a query are called. */
function slugOf(query: string): string {
  return query.toLowerCase().replaceAll(/[^a-z0-9_]+/g, "-");
}
