/**
 * Slack, as far as apps see it. The Web API is that of the package `emulate`. In front of it stands what it lacks: Socket Mode,
 * people who write, the whole of a history (times, pages, threads), and bad days.
 */
import { createHmac, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createEmulator } from "emulate";
import { type WebSocket, WebSocketServer } from "ws";

import { MANIFEST } from "../../src/channels/slack/setup.ts";

type Fields = Readonly<Record<string, ReturnType<typeof JSON.parse>>>;

interface ApiRequest {
  readonly method: string;
  readonly params: Fields;
}

/** What is done with the next request of a method, instead of answering it. */
type SlackFault =
  /** Not taken. */
  | { readonly kind: "error"; readonly error: string; readonly fields?: object }
  | { readonly kind: "status"; readonly status: number; readonly retryAfter?: number; readonly body?: string }
  /** Taken, and the connection is cut before the answer. */
  | { readonly kind: "accept-then-cut" }
  | { readonly kind: "cut" }
  /** Never answered. */
  | { readonly kind: "hang" };

interface Said {
  readonly channel: string;
  readonly user: string;
  readonly thread?: string;
  /** Fields of the message, as Slack has them. */
  readonly more?: object;
  /** What is delivered. By default a message, and a mention where the app is mentioned; none: it is only in the history. */
  readonly as?: readonly ("message" | "app_mention")[];
}

interface SentMessage {
  readonly ts: string;
  readonly channel: string;
  readonly thread: string | undefined;
  readonly params: Fields;
  readonly text: string;
  readonly blocks: readonly Fields[];
  readonly files: readonly { readonly name: string; readonly content: Buffer }[];
}

export interface FakeSlack extends AsyncDisposable {
  /** As `apiUrl`. */
  readonly url: string;
  readonly botToken: string;
  readonly appToken: string;
  readonly bot: { readonly user: string; readonly bot: string };
  readonly people: readonly string[];
  /** The direct messages of each person. */
  readonly dms: readonly string[];
  readonly channels: readonly string[];
  /** A channel that only members see. */
  readonly secret: string;
  readonly requests: readonly ApiRequest[];
  /** The messages of the app, as they look now. */
  readonly sent: readonly SentMessage[];
  readonly reactions: readonly { readonly ts: string; readonly name: string }[];
  readonly violations: readonly string[];
  readonly unacknowledged: number;
  readonly sockets: number;
  /** Files that messages can bring, by their id. */
  readonly files: Map<string, Buffer>;
  /** Somebody writes. Returns the time of the message, which is its id. */
  say(text: string, said?: Partial<Said>): string;
  edit(ts: string, text: string): void;
  remove(ts: string): void;
  react(ts: string, name: string, at: Pick<Said, "channel" | "user">): void;
  press(ts: string, value: string, at: Pick<Said, "channel" | "user" | "thread">): void;
  command(text: string, at: Pick<Said, "channel" | "user">): void;
  /** An event that is none of these. */
  event(event: object): void;
  envelope(type: string, payload: object): void;
  /** Anything at all, over all sockets. */
  raw(text: string): void;
  fail(method: string, ...faults: readonly SlackFault[]): void;
  /** Slack ends all sockets, and says why. */
  disconnect(reason: string): void;
  cut(): void;
  delay(ms: number): void;
  /** The sockets of now bring nothing more, and answer no pings. */
  deafen(): void;
  revoke(): void;
  expel(channel: string): void;
  /** The scopes that the bot token has from now on. */
  limit(scopes: readonly string[]): void;
}

const BOT = { user: "UCORTEXBOT", bot: "BCORTEXBOT" };
const BOT_TOKEN = "xoxb-fake-bot-token";
const APP_TOKEN = "xapp-fake-app-token";
const HELPER_TOKEN = "xoxp-fake-helper-token";
const SCOPES = MANIFEST.oauth_config.scopes.bot;
const TEAM = "T000000001";

interface StoredMessage {
  readonly ts: string;
  readonly user: string;
  readonly text: string;
  readonly thread_ts?: string;
  readonly metadata?: object;
}

export async function startSlack({
  people: peopleCount = 3,
  channels: channelCount = 3,
  pingMs = 50,
}: {
  readonly people?: number;
  readonly channels?: number;
  readonly pingMs?: number;
} = {}): Promise<FakeSlack> {
  const requests: ApiRequest[] = [];
  const sent: SentMessage[] = [];
  const reactions: { ts: string; name: string }[] = [];
  const violations: string[] = [];
  const files = new Map<string, Buffer>();
  const faults = new Map<string, SlackFault[]>();
  const said = new Map<string, StoredMessage & { readonly channel: string }>();
  const pending: { readonly envelope_id: string }[] = [];
  const deaf = new WeakSet<WebSocket>();
  const uploads = new Map<string, { name: string; content: Buffer }>();
  const expelled = new Set<string>();
  let revoked = false;
  let delayMs = 0;
  let scopes: readonly string[] = SCOPES;
  let spoken = 0;

  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => {
      violations.push(String(error));
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const base = `http://${host}`;
  const names = Array.from({ length: peopleCount }, (_, n) => `person-${n}`);
  const emulator = await createEmulator({
    service: "slack",
    port: 0,
    seed: {
      slack: {
        users: names.map((name) => ({ name, real_name: name.replace("p", "P").replace("-", " ") })),
        channels: [
          ...Array.from({ length: channelCount }, (_, n) => ({ name: `channel-${n}` })),
          { name: "secret", is_private: true },
        ],
        oauth_apps: [
          {
            client_id: "1",
            client_secret: "s",
            name: "Cortex",
            redirect_uris: [],
            app_id: "A1",
            bot_id: BOT.bot,
            bot_user_id: BOT.user,
          },
        ],
        tokens: [
          { token: BOT_TOKEN, type: "bot", user_id: BOT.user, scopes: SCOPES, bot_id: BOT.bot, app_id: "A1" },
          { token: HELPER_TOKEN, user_id: "U000000001" },
        ],
        strict_scopes: true,
      },
    },
  });
  const emulated = emulator.url.replace("localhost", "127.0.0.1");

  async function ask(method: string, params: Fields, token = BOT_TOKEN): Promise<Fields> {
    const response = await fetch(`${emulated}/api/${method}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: new URLSearchParams(params as Record<string, string>),
    });
    return JSON.parse((await response.text()).replaceAll(emulator.url, base)) as Fields;
  }

  const { members } = await ask("users.list", { limit: 1_000 });
  const people = names.map(
    (name) => (members as Fields[]).find((user) => user["name"] === name)!["id"] as string,
  );
  const listed = (
    await ask("conversations.list", { limit: 1_000, types: "public_channel,private_channel" }, HELPER_TOKEN)
  )["channels"] as Fields[];
  const idOf = (name: string) => listed.find((each) => each["name"] === name)!["id"] as string;
  const channels = Array.from({ length: channelCount }, (_, n) => idOf(`channel-${n}`));
  const secret = idOf("secret");
  await ask("conversations.invite", { channel: secret, users: BOT.user }, HELPER_TOKEN);
  const dms: string[] = [];
  for (const user of people)
    dms.push((await ask("conversations.open", { users: user }))["channel"].id as string);

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "", base);
    const body = await readBody(request);
    if (delayMs > 0) await pause(delayMs);
    const [, method] = /^\/api\/(.+)$/.exec(pathname) ?? [];
    if (method !== undefined) return answerCall(method, { request, response, body });
    const [, file = ""] = /^\/files-pri\/([^/]+)/.exec(pathname) ?? [];
    if (file !== "" && files.has(file)) {
      const isAllowed = request.headers.authorization === `Bearer ${BOT_TOKEN}`;
      response.writeHead(isAllowed ? 200 : 401).end(isAllowed ? files.get(file) : undefined);
      return;
    }
    const [, upload = ""] = /^\/upload\/v1\/(.+)$/.exec(pathname) ?? [];
    if (request.headers.authorization !== undefined && upload !== "")
      violations.push("an upload with the token");
    if (uploads.has(upload)) uploads.get(upload)!.content = body;
    const passed = await fetch(`${emulated}${request.url}`, {
      method: request.method!,
      headers: headersOf(request),
      ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
    });
    response.writeHead(passed.status).end(Buffer.from(await passed.arrayBuffer()));
  }

  async function answerCall(
    method: string,
    { request, response, body }: { request: IncomingMessage; response: ServerResponse; body: Buffer },
  ): Promise<void> {
    const params = readParams(body, request.headers["content-type"]);
    requests.push({ method, params });
    const fault = faults.get(method)?.shift();
    if (fault?.kind === "hang") return;
    if (fault?.kind === "cut") return void response.destroy();
    if (fault?.kind === "status") {
      const retry = fault.retryAfter === undefined ? {} : { "Retry-After": String(fault.retryAfter) };
      response
        .writeHead(fault.status, retry)
        .end(fault.body ?? (fault.status === 429 ? '{"ok":false,"error":"ratelimited"}' : "oops"));
      return;
    }
    const reply = (answer: object): void => {
      response.setHeader("Content-Type", "application/json").setHeader("X-OAuth-Scopes", scopes.join(","));
      response.end(JSON.stringify(answer));
    };
    if (fault?.kind === "error") return reply({ ok: false, error: fault.error, ...fault.fields });
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    const answer = await carryOut({ method, params }, token);
    if (fault?.kind === "accept-then-cut") return void response.destroy();
    reply(answer);
  }

  async function carryOut({ method, params }: ApiRequest, token: string): Promise<Fields> {
    if (revoked) return { ok: false, error: "token_revoked" };
    if (method === "apps.connections.open") {
      if (token !== APP_TOKEN) return { ok: false, error: "not_allowed_token_type" };
      return { ok: true, url: `ws://${host}/link/?ticket=${randomUUID()}` };
    }
    if (token !== BOT_TOKEN) return { ok: false, error: "invalid_auth" };
    const place = (params["channel"] ?? params["channel_id"]) as string;
    if (/^(chat|files\.complete|conversations\.(history|replies))/.test(method) && expelled.has(place))
      return { ok: false, error: "not_in_channel" };
    const missing = /^conversations\.(history|replies)/.test(method) ? historyScope(place) : undefined;
    if (missing !== undefined && !scopes.includes(missing))
      return { ok: false, error: "missing_scope", needed: missing, provided: scopes.join(",") };
    switch (method) {
      case "users.conversations":
        return {
          ok: true,
          channels: [...dms, ...channels, secret].map((id) => ({ id })),
          response_metadata: { next_cursor: "" },
        };
      case "conversations.history":
      case "conversations.replies":
        return history(method, params);
      case "reactions.add":
        if (reactions.some(({ ts, name }) => ts === params["timestamp"] && name === params["name"]))
          return { ok: false, error: "already_reacted" };
        if (!/^[a-z0-9_+-]+$/.test(params["name"])) return { ok: false, error: "invalid_name" };
        reactions.push({ ts: params["timestamp"], name: params["name"] });
        return { ok: true };
      case "files.info":
        if (files.has(params["file"]))
          return {
            ok: true,
            file: { id: params["file"], url_private: `${base}/files-pri/${params["file"]}/file` },
          };
        return { ok: false, error: "file_not_found" };
      default:
    }
    if (method === "chat.postMessage" && Buffer.byteLength(JSON.stringify(params["blocks"] ?? [])) > 13_200)
      return { ok: false, error: "msg_too_long" };
    const answer = await ask(
      method,
      Object.fromEntries(
        Object.entries(params).map(([name, value]) => [
          name,
          typeof value === "object" ? JSON.stringify(value) : value,
        ]),
      ),
    );
    if (answer["ok"] === true) record({ method, params }, answer);
    else if (answer["error"] === undefined) violations.push(`unknown method ${method}`);
    return answer;
  }

  function record({ method, params }: ApiRequest, answer: Fields): void {
    const index = sent.findIndex(({ ts }) => ts === params["ts"]);
    switch (method) {
      case "chat.postMessage": {
        const message = {
          ts: answer["ts"],
          channel: answer["channel"],
          thread: params["thread_ts"],
          params,
          text: params["text"] ?? "",
          blocks: params["blocks"] ?? [],
          files: [],
        };
        sent.push(message);
        echo(message);
        return;
      }
      case "chat.update":
        if (index >= 0)
          sent[index] = { ...sent[index]!, params, text: params["text"], blocks: params["blocks"] ?? [] };
        return;
      case "chat.delete":
        if (index >= 0) sent.splice(index, 1);
        return;
      case "files.getUploadURLExternal":
        uploads.set(answer["file_id"], { name: params["filename"], content: Buffer.alloc(0) });
        return;
      case "files.completeUploadExternal": {
        const ts = nextTs();
        const own = (params["files"] as Fields[]).map(({ id }) => uploads.get(id)!);
        sent.push({
          ts,
          channel: params["channel_id"],
          thread: params["thread_ts"],
          params,
          text: "",
          blocks: [],
          files: own,
        });
        return;
      }
      default:
    }
  }

  function echo({ ts, channel, thread, text }: SentMessage): void {
    const event = {
      type: "message",
      subtype: "bot_message",
      user: BOT.user,
      bot_id: BOT.bot,
      text,
      ts,
      channel,
      channel_type: kindOf(channel),
      event_ts: ts,
    };
    push("events_api", callback({ ...event, ...(thread === undefined ? {} : threadOf(thread)) }));
  }

  async function history(method: string, params: Fields): Promise<Fields> {
    const {
      channel,
      ts: root,
      oldest = "0",
      limit = "100",
      cursor = "0",
      include_all_metadata: all,
    } = params;
    const kept = await ask(method, { channel, ...(root === undefined ? {} : { ts: root }), limit: 1_000 });
    if (kept["ok"] !== true) return kept;
    const own = ((kept["messages"] ?? []) as StoredMessage[]).map((each) =>
      Object.assign(each, { bot_id: BOT.bot }),
    );
    const others = [...said.values()].filter((each) => each.channel === channel);
    const everything = [...own, ...others];
    const isIn = (each: StoredMessage): boolean =>
      root === undefined
        ? each.thread_ts === undefined || each.thread_ts === each.ts
        : each.ts === root || each.thread_ts === root;
    const found = everything
      .filter((each) => isIn(each) && (Number(each.ts) > Number(oldest) || each.ts === root))
      .toSorted((one, other) => (root === undefined ? -1 : 1) * (Number(one.ts) - Number(other.ts)))
      .map(({ metadata, ...each }) => {
        const replies = others.filter(({ thread_ts: thread, ts }) => thread === each.ts && ts !== each.ts);
        const latest = replies.at(-1)?.ts;
        const thread =
          latest === undefined
            ? {}
            : { thread_ts: each.ts, reply_count: replies.length, latest_reply: latest };
        return Object.assign({}, each, thread, all === "true" ? { metadata } : {});
      });
    const from = Number(cursor);
    const to = from + Number(limit);
    return {
      ok: true,
      messages: found.slice(from, to),
      has_more: to < found.length,
      response_metadata: { next_cursor: to < found.length ? String(to) : "" },
    };
  }

  function kindOf(channel: string): string {
    return channel.startsWith("D") ? "im" : channel === secret ? "group" : "channel";
  }

  function historyScope(channel: string): string {
    const kind = kindOf(channel);
    return `${kind === "im" ? kind : `${kind}s`}:history`;
  }

  const nextTs = (): string => `${Math.floor(Date.now() / 1_000)}.${500_000 + ++spoken}`;

  function threadOf(thread: string): object {
    const parent = said.get(thread)?.user ?? (sent.some(({ ts }) => ts === thread) ? BOT.user : undefined);
    return { thread_ts: thread, ...(parent === undefined ? {} : { parent_user_id: parent }) };
  }

  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    const say = (what: object): void => void (deaf.has(socket) || socket.send(JSON.stringify(what)));
    say({
      type: "hello",
      num_connections: sockets.clients.size,
      connection_info: { app_id: "A1" },
      debug_info: { approximate_connection_time: 18_060 },
    });
    for (const envelope of pending) say(envelope);
    const pinging = setInterval(() => deaf.has(socket) || socket.ping("Ping from applink-1"), pingMs);
    socket.on("close", () => clearInterval(pinging));
    socket.on("message", (data) => {
      const { envelope_id: id } = JSON.parse((data as Buffer).toString()) as { envelope_id?: string };
      const index = pending.findIndex((envelope) => envelope.envelope_id === id);
      if (index >= 0) pending.splice(index, 1);
      else if (deaf.has(socket)) return;
    });
  });

  const open = (): WebSocket[] => [...sockets.clients].filter((socket) => socket.readyState === socket.OPEN);

  function push(type: string, payload: object): void {
    const envelope = {
      envelope_id: randomUUID(),
      type,
      payload,
      accepts_response_payload: type !== "events_api",
      retry_attempt: 0,
      retry_reason: "",
    };
    pending.push(envelope);
    // Each goes to one of the connections.
    const socket = open().find((each) => !deaf.has(each));
    socket?.send(JSON.stringify(envelope));
  }

  return {
    url: `${base}/api`,
    botToken: BOT_TOKEN,
    appToken: APP_TOKEN,
    bot: BOT,
    people,
    dms,
    channels,
    secret,
    requests,
    sent,
    reactions,
    violations,
    files,
    get unacknowledged() {
      return pending.length;
    },
    get sockets() {
      return open().length;
    },
    say(text, { channel = dms[0]!, user = people[0]!, thread, more = {}, as } = {}) {
      const ts = nextTs();
      const inThread = thread === undefined ? {} : threadOf(thread);
      const message = { type: "message", user, text, ts, ...inThread, ...more };
      said.set(ts, { ...message, channel });
      const mentions = text.includes(`<@${BOT.user}>`) && kindOf(channel) !== "im";
      for (const type of as ?? ["message" as const, ...(mentions ? (["app_mention"] as const) : [])]) {
        const kind = type === "message" ? { channel_type: kindOf(channel) } : {};
        push("events_api", callback({ ...message, type, channel, event_ts: ts, ...kind }));
      }
      return ts;
    },
    edit(ts, text) {
      const before = said.get(ts)!;
      const { channel } = before;
      const after = { ...before, text, edited: { user: before.user, ts: nextTs() } };
      said.set(ts, after);
      push(
        "events_api",
        callback({
          type: "message",
          subtype: "message_changed",
          hidden: true,
          channel,
          channel_type: kindOf(channel),
          ts: nextTs(),
          message: after,
          previous_message: before,
        }),
      );
    },
    remove(ts) {
      const before = said.get(ts)!;
      const { channel } = before;
      said.delete(ts);
      push(
        "events_api",
        callback({
          type: "message",
          subtype: "message_deleted",
          hidden: true,
          channel,
          channel_type: kindOf(channel),
          ts: nextTs(),
          deleted_ts: ts,
          previous_message: before,
        }),
      );
    },
    react: (ts, name, { channel, user }) =>
      push(
        "events_api",
        callback({
          type: "reaction_added",
          user,
          reaction: name,
          item: { type: "message", channel, ts },
          event_ts: nextTs(),
        }),
      ),
    press(ts, value, { channel, user, thread }) {
      const container = {
        type: "message",
        message_ts: ts,
        channel_id: channel,
        is_ephemeral: false,
        ...(thread === undefined ? {} : { thread_ts: thread }),
      };
      const action = {
        type: "button",
        action_id: "cortex-0",
        block_id: "b",
        value,
        action_ts: nextTs(),
        text: { type: "plain_text", text: "x" },
      };
      push("interactive", {
        type: "block_actions",
        user: { id: user, username: "x", team_id: TEAM },
        container,
        channel: { id: channel },
        trigger_id: "1.2.3",
        actions: [action],
      });
    },
    command: (text, { channel, user }) =>
      push("slash_commands", {
        token: "t",
        team_id: TEAM,
        channel_id: channel,
        channel_name: "directmessage",
        user_id: user,
        user_name: "x",
        command: "/cortex",
        text,
        trigger_id: randomUUID(),
      }),
    event: (event) => push("events_api", callback(event)),
    envelope: push,
    raw: (text) => open().forEach((socket) => socket.send(text)),
    fail: (method, ...next) => void faults.set(method, [...(faults.get(method) ?? []), ...next]),
    disconnect: (reason) =>
      open().forEach((socket) =>
        socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "applink-1" } })),
      ),
    cut() {
      for (const socket of open()) socket.terminate();
      server.closeAllConnections();
    },
    delay: (ms) => void (delayMs = ms),
    deafen() {
      for (const socket of open()) {
        deaf.add(socket);
        socket.pause();
      }
    },
    revoke() {
      revoked = true;
      for (const socket of open()) socket.close();
    },
    expel: (channel) => void expelled.add(channel),
    limit: (left) => void (scopes = left),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await emulator.close();
    },
  };
}

/** The headers of a request of Slack by HTTP. */
export function signedBySlack(body: string, secret: string, atMs: number): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const signature = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
  return { "x-slack-request-timestamp": timestamp, "x-slack-signature": `v0=${signature}` };
}

function callback(event: object): object {
  return {
    token: "t",
    team_id: TEAM,
    api_app_id: "A1",
    event,
    type: "event_callback",
    event_id: `Ev${randomUUID()}`,
    event_time: Math.floor(Date.now() / 1_000),
    authorizations: [{ team_id: TEAM, user_id: BOT.user, is_bot: true }],
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function readParams(body: Buffer, type = ""): Fields {
  if (type.startsWith("application/json")) return JSON.parse(body.toString()) as Fields;
  const given = [...new URLSearchParams(body.toString())];
  return Object.fromEntries(
    given.map(([name, value]) => [name, /^[[{]/.test(value) ? JSON.parse(value) : value]),
  );
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const { authorization, "content-type": type } = request.headers;
  return {
    ...(authorization === undefined ? {} : { Authorization: authorization }),
    ...(type === undefined ? {} : { "Content-Type": type }),
  };
}
