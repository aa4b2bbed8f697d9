/** A Cortex with its server on a port of its own, and a client that can also send what no proper client does. */
import { readFileSync } from "node:fs";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { join } from "node:path";

import type { Cortex, CortexOptions } from "../../src/runtime/cortex.ts";
import { serve, type ServeOptions, type CortexServer } from "../../src/server/serve.ts";
import { type HomeFiles, openTestCortex } from "./home.ts";

export interface Sending {
  readonly method?: string;
  readonly path: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | Buffer;
  /** Undefined removes a header that would be sent otherwise. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** What the JSON says; tests look at it as they like. */
  readonly json: ReturnType<typeof JSON.parse>;
}

/** For what comes soon, on cores that may be busy with something else. */
export const PATIENT = { timeout: 90_000 };

export interface TestServer extends AsyncDisposable {
  readonly cortex: Cortex;
  readonly server: CortexServer;
  readonly token: string;
  /** What was logged. */
  readonly log: readonly string[];
  send(sending: Sending | string): Promise<Received>;
}

export async function openTestServer(
  files: HomeFiles = {},
  options: Partial<CortexOptions> & { readonly serving?: Partial<ServeOptions> } = {},
): Promise<TestServer> {
  const log: string[] = [];
  const { serving, ...opening } = options;
  const cortex = await openTestCortex(files, opening);
  const server = await serve(cortex, {
    host: "127.0.0.1",
    port: 0,
    log: (line) => log.push(line),
    ...serving,
  });
  const readToken = (): string => readFileSync(join(cortex.home, "data", "token"), "utf8").trim();
  return {
    cortex,
    server,
    get token() {
      return readToken(); // it can be rotated
    },
    log,
    send: (sending) =>
      send(server.port, readToken(), typeof sending === "string" ? { path: sending } : sending),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await cortex[Symbol.asyncDispose]();
    },
  };
}

function send(
  port: number,
  token: string,
  { method = "GET", path, json, body, headers = {} }: Sending,
): Promise<Received> {
  const payload = json === undefined ? body : JSON.stringify(json);
  const all = {
    host: `127.0.0.1:${port}`,
    authorization: `Bearer ${token}`,
    ...(json === undefined ? {} : { "content-type": "application/json" }),
    ...(payload === undefined ? {} : { "content-length": String(Buffer.byteLength(payload)) }),
    ...headers,
  };
  const sent = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().flatMap((each) => [name, each]),
  );
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method, path, headers: sent, agent: false, setHost: false };
    const request = httpRequest(options, (response) => resolve(receive(response)));
    request.on("error", reject);
    request.end(payload);
  });
}

async function receive(response: IncomingMessage): Promise<Received> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk as string;
  const isJson = response.headers["content-type"]?.startsWith("application/json") === true;
  const json: unknown = isJson && text !== "" ? JSON.parse(text) : undefined; // HEAD has none
  return { status: response.statusCode!, headers: response.headers, text, json };
}
