/**
 * A model server on loopback for tests. It speaks the real protocols over real connections and says what the
 * test tells it to, faults included.
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

import type { Json } from "../../src/model/json.ts";
import { conversationProblem } from "./check-conversation.ts";
import type { Answer, Asked, Piece, Protocol } from "./model-protocol.ts";
import { anthropic } from "./model-protocol-anthropic.ts";
import { google } from "./model-protocol-google.ts";
import { openai } from "./model-protocol-openai.ts";
import { responses } from "./model-protocol-responses.ts";

const PROTOCOLS = { openai, responses, anthropic, google };

export interface ModelRequest extends Asked {
  readonly protocol: keyof typeof PROTOCOLS;
  readonly model: string;
  readonly headers: IncomingHttpHeaders;
  /** How many requests there were, this one included. */
  readonly count: number;
  /** As it came. */
  readonly body: Readonly<Record<string, Json>>;
}

export interface Reply {
  readonly thinking?: string;
  readonly text?: string;
  /** Arguments that are a text are sent as they are. */
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments: Json }[];
  readonly stop?: "stop" | "length";
  readonly usage?: Partial<Answer["usage"]>;
  readonly fault?: Fault;
  /** Nothing is sent before this has resolved, or only the first half of the text. */
  readonly gate?: Promise<unknown>;
  readonly gateAt?: "start" | "middle";
  readonly delayMs?: number;
}

export type Fault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: Json | string }
  | "cut-before-first"
  | "cut-mid-text"
  | "cut-mid-call"
  | "never-answer"
  | "garbage";

export interface ModelServer extends AsyncDisposable {
  readonly port: number;
  /** The address as the clients of each protocol expect it; the responses are at OpenAI's. */
  readonly openaiUrl: string;
  readonly anthropicUrl: string;
  readonly googleUrl: string;
  /** The newest requests, oldest first. */
  readonly requests: readonly ModelRequest[];
  /** What was refused because it is no proper conversation. */
  readonly problems: readonly string[];
}

/** How many requests are kept to be looked at. */
const MAX_RECORDED = 1000;

export async function startModelServer({
  answer,
  port = 0,
  strict = false,
}: {
  answer: (request: ModelRequest) => Reply | Promise<Reply>;
  port?: number;
  /** Refuses what the strictest of providers would refuse. */
  strict?: boolean;
}): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const problems: string[] = [];
  const closing = new AbortController();
  let count = 0;

  const server = createServer((incoming, outgoing) => {
    respond(incoming, outgoing).catch((error: unknown) => {
      if (closing.signal.aborted || outgoing.destroyed) return; // The test has ended, or its client has left.
      outgoing.writeHead(500).end(String(error));
    });
  });

  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await read(incoming, ++count);
    if (request === undefined) {
      outgoing.writeHead(404).end(`nothing at ${incoming.url}`);
      return;
    }
    requests.push(request);
    if (requests.length > MAX_RECORDED) requests.shift();
    const problem = strict ? conversationProblem(request.messages) : undefined;
    if (problem !== undefined) problems.push(problem);
    const reply = problem === undefined ? await answer(request) : refusal(problem);
    await send(request, reply, outgoing, closing.signal);
  }

  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${address.port}`;
  return {
    port: address.port,
    openaiUrl: `${origin}/v1`,
    anthropicUrl: origin,
    googleUrl: `${origin}/v1beta`,
    requests,
    problems,
    async [Symbol.asyncDispose]() {
      closing.abort();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function refusal(message: string): Reply {
  return { fault: { status: 400, body: { error: { message, type: "invalid_request_error" } } } };
}

async function read(incoming: IncomingMessage, count: number): Promise<ModelRequest | undefined> {
  const { pathname } = new URL(incoming.url!, "http://127.0.0.1");
  const names = Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[];
  const protocol = names.find((name) => PROTOCOLS[name].path.test(pathname));
  if (protocol === undefined) return undefined;
  const body = JSON.parse(await text(incoming)) as ModelRequest["body"];
  const model = PROTOCOLS[protocol].path.exec(pathname)?.groups?.["model"] ?? (body["model"] as string);
  return { protocol, model, ...PROTOCOLS[protocol].read(body), headers: incoming.headers, count, body };
}

async function send(request: ModelRequest, reply: Reply, outgoing: ServerResponse, closing: AbortSignal) {
  const { fault, gate, gateAt = "start", delayMs } = reply;
  if (delayMs !== undefined) await delay(delayMs, undefined, { signal: closing });
  if (gateAt === "start") await gate;
  if (fault === "never-answer") return;
  if (typeof fault === "object") {
    const { status, headers, body = "" } = fault;
    const isText = typeof body === "string";
    outgoing.writeHead(status, { "content-type": isText ? "text/plain" : "application/json", ...headers });
    outgoing.end(isText ? body : JSON.stringify(body));
    return;
  }
  const protocol: Protocol = PROTOCOLS[request.protocol];
  const whole = answerOf(request, reply);
  if (protocol.whole !== undefined && request.body["stream"] !== true) {
    outgoing.writeHead(200, { "content-type": "application/json" });
    outgoing.end(JSON.stringify(protocol.whole(whole)));
    return;
  }
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  if (fault === "garbage") {
    outgoing.end("event: message_start\ndata: {this is not JSON\n\n");
    return;
  }
  for (const piece of protocol.pieces(whole)) {
    if (fault === "cut-before-first") return cut(outgoing, "");
    if (cutsAt(fault, piece)) return cut(outgoing, piece.data);
    outgoing.write(piece.data);
    if (piece.kind === "text" && gateAt === "middle") await gate;
  }
  outgoing.end();
}

function cutsAt(fault: Reply["fault"], { kind }: Piece): boolean {
  return (fault === "cut-mid-text" && kind === "text") || (fault === "cut-mid-call" && kind === "call");
}

/** Ends the connection, but not before its last words are on their way. */
function cut(outgoing: ServerResponse, last: string): void {
  outgoing.write(last === "" ? ": \n\n" : last, () => outgoing.destroy());
}

function answerOf({ model, count }: ModelRequest, reply: Reply): Answer {
  const { thinking = "", text: said = "", usage, stop = "stop" } = reply;
  const calls = (reply.calls ?? []).map(({ id, name, arguments: args }, index) => ({
    id: id ?? `call_${count}_${index}`,
    name,
    arguments: args,
  }));
  return {
    id: `answer_${count}`,
    model,
    thinking,
    text: said,
    calls,
    stop: calls.length > 0 && stop === "stop" ? "tools" : stop,
    usage: { input: 10, output: 5, cacheRead: 0, ...usage },
  };
}
