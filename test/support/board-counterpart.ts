/**
 * A message board for the examples of docs/channel-plugins.md: events are polled after a number, which acknowledges those
 * before it, and a message has a key, under which the board takes it once.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import type {
  Counterpart,
  PlayedFile,
  PlayedMessage,
  SendFault,
  SentMessage,
  Where,
} from "../../src/channels/kit/counterpart.ts";

const TOKEN = "board-token-of-the-test";
const POLL_MS = 50;
const ME = "bot";

interface Posted {
  readonly key: string;
  readonly place: string;
  readonly topic?: string;
  readonly text: string;
  readonly replyTo?: string;
}

export async function startBoard(): Promise<Counterpart> {
  const events: { readonly n: number; readonly event: object }[] = [];
  const sent: (SentMessage & { readonly key: string; text: string })[] = [];
  const files = new Map<string, Uint8Array>();
  const faults: SendFault[] = [];
  const expelled = new Set<string>();
  const violations: string[] = [];
  const deaf = new Set<ServerResponse>();
  let waiting: { readonly response: ServerResponse; readonly answer: () => void } | undefined;
  let [isDeafNext, isRevoked, delayMs, lastEvent, lastMessage, acknowledged] = [false, false, 0, 0, 0, 0];

  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://board");
    const body = await readBody(request);
    if (delayMs > 0) await pause(delayMs);
    if (isRevoked || request.headers.authorization !== `Bearer ${TOKEN}`) return reply(response, 401, {});
    const [, kind, id] = url.pathname.split("/");
    switch (`${request.method} ${kind}`) {
      case "GET me":
        return reply(response, 200, { id: ME });
      case "GET events":
        return poll(Number(url.searchParams.get("after")), response);
      case "GET files": {
        const content = files.get(id!);
        return content === undefined ? reply(response, 404, {}) : void response.end(content);
      }
      case "POST messages":
        return post(JSON.parse(body) as Posted, response);
      default:
        violations.push(`unknown request ${request.method} ${url.pathname}`);
        return reply(response, 404, {});
    }
  }

  function poll(after: number, response: ServerResponse): void {
    acknowledged = Math.max(acknowledged, after);
    waiting?.answer();
    const answer = (): void => {
      clearTimeout(timer);
      if (waiting?.response === response) waiting = undefined;
      const found = events.filter(({ n }) => n > after).slice(0, 100);
      reply(response, 200, { events: found.map(({ event }) => event), next: found.at(-1)?.n ?? after });
    };
    const timer = setTimeout(answer, POLL_MS);
    response.on("close", () => {
      clearTimeout(timer);
      if (waiting?.response === response) waiting = undefined;
    });
    if (isDeafNext) {
      isDeafNext = false;
      return ignore(response, timer);
    }
    waiting = { response, answer };
    if (events.some(({ n }) => n > after)) answer();
  }

  function ignore(response: ServerResponse, timer?: NodeJS.Timeout): void {
    clearTimeout(timer);
    deaf.add(response);
    response.on("close", () => deaf.delete(response));
  }

  function post(posted: Posted, response: ServerResponse): void {
    const { key, place, topic, text, replyTo } = posted;
    if (typeof key !== "string" || key === "") violations.push("a message has no key");
    if (typeof text !== "string" || text.trim() === "" || text.length > 500)
      violations.push(`a text has ${text?.length} characters`);
    const fault = faults.shift();
    if (fault?.kind === "rate-limit") return reply(response, 429, { retryAfterMs: fault.pauseMs });
    if (fault?.kind === "cut") return void response.destroy();
    if (expelled.has(place)) return reply(response, 403, { reason: "you are not in this place" });
    const known = sent.find((each) => each.key === key);
    const id = known?.id ?? `b${++lastMessage}`;
    const rest = { ...(topic === undefined ? {} : { topic }), ...(replyTo === undefined ? {} : { replyTo }) };
    if (known === undefined) sent.push({ id, key, place, text, buttons: [], files: [], ...rest });
    if (fault?.kind === "accept-then-cut") return void response.destroy();
    reply(response, 200, { id });
  }

  function push(event: object): void {
    const n = ++lastEvent;
    events.push({ n, event: { n, at: 1_780_000_000_000 + n, ...event } });
    waiting?.answer();
  }

  function say({
    where,
    person,
    text,
    mention,
    replyTo,
    files: attached = [],
    bot,
    self,
  }: PlayedMessage): string {
    const id = `m${++lastMessage}`;
    push({
      kind: "message",
      id,
      place: placeOf(where),
      person: self === true ? ME : senderOf(person),
      isBot: bot === true,
      text: mention === true ? `@${ME} ${text}` : text,
      ...(replyTo === undefined ? {} : { replyTo, repliesToMe: sent.some((each) => each.id === replyTo) }),
      files: attached.map((file, at) => addFile(`${id}-${at}`, file)),
    });
    return id;
  }

  function addFile(
    id: string,
    { name, contentType, content, bytes = content?.length ?? 0 }: PlayedFile,
  ): object {
    if (content !== undefined) files.set(id, content);
    return { id, name, contentType, bytes };
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    settings: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tokenEnv: "BOARD_TOKEN" },
    variables: { BOARD_TOKEN: TOKEN },
    sender: senderOf,
    place(where) {
      const { id, topic } = placeOf(where);
      return { place: id, ...(topic === undefined ? {} : { topic }) };
    },
    say,
    edit: ({ where, messageId, person }, text) =>
      push({ kind: "edit", id: messageId, place: placeOf(where), person: senderOf(person), text }),
    remove: ({ where, messageId, person }) =>
      push({ kind: "delete", id: messageId, place: placeOf(where), person: senderOf(person), text: null }),
    react: ({ where, messageId, person }, emoji) =>
      push({ kind: "reaction", id: messageId, place: placeOf(where), person: senderOf(person), text: emoji }),
    sent,
    get unacknowledged() {
      return lastEvent - acknowledged;
    },
    get receivers() {
      return deaf.size + (waiting === undefined ? 0 : 1);
    },
    violations,
    cut: () => server.closeAllConnections(),
    delay: (ms) => void (delayMs = ms),
    deafen() {
      if (waiting === undefined) isDeafNext = true;
      else {
        const { response } = waiting;
        response.removeAllListeners("close");
        waiting = undefined;
        ignore(response);
      }
    },
    failSends: (...next) => void faults.push(...next),
    revoke: () => void (isRevoked = true),
    expel: (where) => void expelled.add(placeOf(where).id),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function senderOf(person: number): string {
  return `p${person}`;
}

function placeOf(where: Where): { readonly id: string; readonly kind: string; readonly topic?: string } {
  if (where.kind === "dm") return { id: senderOf(where.person), kind: "dm" };
  const topic = where.topic === undefined ? {} : { topic: `t${where.topic}` };
  return { id: `g${where.group}`, kind: "group", ...topic };
}

function reply(response: ServerResponse, status: number, body: object): void {
  if (response.writableEnded || response.destroyed) return;
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
