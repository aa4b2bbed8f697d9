/** A receiver of webhooks on loopback that answers, or misbehaves, as the test says. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: Readonly<Record<string, unknown>>;
}

/** What it does with a request that has arrived whole. */
export type Behaviour = (response: ServerResponse, request: Received) => void;

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Everything that arrived, also what was not answered. */
  readonly received: Received[];
  behave(behaviour: Behaviour): void;
}

export const accept: Behaviour = (response) => void response.end("ok");
/** Takes the message and is gone before it says so. */
export const cut: Behaviour = (response) => void response.socket!.destroy();

export function answer(status: number, headers: Record<string, string> = {}, body = ""): Behaviour {
  return (response) => void response.writeHead(status, headers).end(body);
}

export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let behave = accept;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    response.on("error", () => {}); // the other end may be gone before the answer is
    request.on("data", (part: Buffer) => void parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString();
      const arrived = { path: request.url!, headers: request.headers, body, json: JSON.parse(body) };
      received.push(arrived);
      behave(response, arrived);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    behave: (next) => void (behave = next),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
