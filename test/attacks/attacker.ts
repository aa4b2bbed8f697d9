/** What belongs to the attacker, and what the attacker would like to reach: servers on loopback that remember all. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface Visit {
  readonly method: string;
  readonly path: string;
  /** All that came: the line, the headers, the body. */
  readonly whole: string;
}

export interface Attacker extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly visits: Visit[];
  /** Puts words where `/page/<name>` and a search for the name find them. */
  publish(name: string, words: string): void;
}

/** Gives pages with words in them, results of searches, and redirects; takes everything. */
export async function openAttacker(): Promise<Attacker> {
  const pages = new Map<string, string>();
  const { port, visits, close } = await listen(({ url = "/" }) => {
    const { pathname, searchParams } = new URL(url, "http://attacker.example");
    if (pathname === "/go")
      return { status: 302, headers: { location: searchParams.get("to") ?? "/" }, body: "" };
    if (pathname === "/search") {
      const snippet = pages.get(searchParams.get("q") ?? "") ?? "nothing";
      const body = JSON.stringify({ results: [{ title: "A page", url: "https://example.com/", snippet }] });
      return { status: 200, headers: { "content-type": "application/json" }, body };
    }
    const body = pages.get(pathname.replace("/page/", "")) ?? "A page.";
    return { status: 200, headers: { "content-type": "text/plain" }, body };
  });
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    visits,
    publish: (name, words) => void pages.set(name, words),
    [Symbol.asyncDispose]: close,
  };
}

/** A service of the owner that nobody has named to the agents. */
export async function openInside(
  secret: string,
): Promise<Pick<Attacker, "port" | "visits"> & AsyncDisposable> {
  const { port, visits, close } = await listen(() => ({ status: 200, headers: {}, body: secret }));
  return { port, visits, [Symbol.asyncDispose]: close };
}

interface Given {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

async function listen(answer: (request: IncomingMessage) => Given) {
  const visits: Visit[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const { method = "", url = "" } = request;
    const whole = [`${method} ${url}`, JSON.stringify(request.headers), body].join("\n");
    visits.push({ method, path: url, whole: `${whole}\n${unescaped(whole)}` });
    const { status, headers, body: given } = answer(request);
    response.writeHead(status, headers).end(given);
  };
  const server = createServer((request, response) => {
    response.on("error", () => {}); // the other end may be gone before the answer is
    receive(request, response).catch(() => response.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { port, visits, close };
}

function unescaped(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
