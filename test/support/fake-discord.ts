/**
 * Discord, as far as bots see it: a gateway whose sessions can be resumed, and the REST API. Each request is checked against
 * Discord's own description. `test/discord-oracle.test.ts` proves it with the clients that bots are written with.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

import { discordViolations } from "./discord-description.ts";

type Loose = ReturnType<typeof JSON.parse>;

interface RestRequest {
  readonly method: string;
  readonly path: string;
  readonly body: Loose;
}

/** What is done with the next request of a kind, instead of answering it. */
export type DiscordFault =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly body?: object;
      readonly headers?: Record<string, string>;
    }
  /** Taken, and the connection is cut before the answer. */
  | { readonly kind: "accept-then-cut" }
  | { readonly kind: "cut" }
  /** Never answered. */
  | { readonly kind: "hang" };

interface DiscordUser {
  readonly id: string;
  readonly username: string;
  readonly global_name?: string | null;
  readonly bot?: boolean;
}

interface DiscordChannel {
  readonly id: string;
  readonly type: number;
  readonly name?: string;
  readonly guild_id?: string;
  readonly parent_id?: string;
  readonly owner_id?: string;
  last_message_id?: string;
}

interface PlayedFile {
  readonly name: string;
  readonly contentType?: string;
  /** Undefined: it is named, and not given. */
  readonly content: Buffer | undefined;
  readonly bytes?: number;
}

interface Session {
  readonly id: string;
  readonly log: { readonly t: string; readonly s: number; readonly d: Loose }[];
  /** What the client has shown to have. */
  acked: number;
  socket: WebSocket | undefined;
}

export interface SayOptions {
  readonly channel?: string;
  readonly from?: DiscordUser;
  readonly files?: readonly PlayedFile[];
  readonly replyTo?: string;
  /** Other fields of the message. */
  readonly more?: object;
}

export const BOT: DiscordUser = { id: "1000", username: "cortex", global_name: null, bot: true };
export const ADA: DiscordUser = { id: "42", username: "ada", global_name: "Ada" };
export const GUILD = {
  id: "500",
  name: "Friends",
  roles: [
    { id: "501", name: "cortex", tags: { bot_id: BOT.id } },
    { id: "502", name: "makers" },
  ],
};
export const DM = "600";
export const GENERAL = "700";
export const THREAD = "800";
const TOKEN = "MTAwMA.fake.token-of-the-test-bot";
const APPLICATION = "1000";
const MESSAGE_CONTENT = 1 << 15;
const DISCORD_EPOCH_MS = 1_420_070_400_000;
const WEAK = {
  "x-ratelimit-limit": "5",
  "x-ratelimit-remaining": "4",
  "x-ratelimit-reset-after": "1.000",
  "x-ratelimit-bucket": "b",
};

export class FakeDiscord implements AsyncDisposable {
  readonly token = TOKEN;
  readonly requests: RestRequest[] = [];
  readonly violations: string[] = [];
  readonly channels = new Map<string, DiscordChannel>();
  /** Of all channels, in order. */
  readonly messages: Loose[] = [];
  readonly typing: string[] = [];
  commands: Loose[] = [];
  readonly reactions: string[] = [];
  /** How the interactions were answered. */
  readonly callbacks: Loose[] = [];
  readonly heartbeats: (number | null)[] = [];
  identifies = 0;
  resumes = 0;
  sessionsLeft = 1_000;
  /** Delays every answer. */
  delayMs = 0;
  /** New connections are accepted, and never told anything. */
  isMute = false;
  heartbeatMs: number;
  readonly #server = createServer((request, response) => {
    void this.#handle(request, response).catch((error: unknown) => {
      // Whoever is killed sends only a part.
      const isCut = error instanceof Error && "code" in error && error.code === "ECONNRESET";
      if (!isCut) this.violations.push(String(error));
      response.destroy();
    });
  });
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #deaf = new WeakSet<WebSocket>();
  readonly #sessions = new Map<string, Session>();
  readonly #files = new Map<string, Buffer>();
  readonly #nonces = new Map<string, Loose>();
  readonly #faults = new Map<string, DiscordFault[]>();
  #generation = 1;
  #next = 1;
  #isRevoked = false;
  #hasIntent = true;
  #hidden = new Set<string>();

  constructor({ heartbeatMs = 41_250 }: { readonly heartbeatMs?: number } = {}) {
    this.heartbeatMs = heartbeatMs;
    this.addChannel({ id: DM, type: 1 });
    this.addChannel({ id: GENERAL, type: 0, name: "general", guild_id: GUILD.id });
    this.addChannel({ id: THREAD, type: 11, name: "a thread", guild_id: GUILD.id, parent_id: GENERAL });
    this.#server.on("upgrade", (request, socket, head) => {
      this.#sockets.handleUpgrade(request, socket, head, (client) => this.#connect(client));
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get apiUrl(): string {
    return `http://${this.host}/api/v10`;
  }

  get gatewayUrl(): string {
    return `ws://${this.host}`;
  }

  /** Those of the bot. */
  get sent(): readonly Loose[] {
    return this.messages.filter(({ author }) => author.id === BOT.id);
  }

  /** Events that no heartbeat or resume has told to be stored. */
  get unacknowledged(): number {
    const newest = [...this.#sessions.values()].at(-1);
    return newest === undefined ? 0 : newest.log.filter(({ s }) => s > newest.acked).length;
  }

  /** Connections that have said who they are. */
  get receivers(): number {
    const known = new Set([...this.#sessions.values()].map(({ socket }) => socket));
    return [...this.#sockets.clients].filter((socket) => known.has(socket)).length;
  }

  newId(): string {
    return String((BigInt(Date.now() - DISCORD_EPOCH_MS) << 22n) + BigInt(this.#next++));
  }

  addChannel(channel: DiscordChannel): void {
    this.channels.set(channel.id, channel);
  }

  /** Somebody writes a message. Returns its id. */
  say(text: string, { channel = DM, from = ADA, files = [], replyTo, more = {} }: SayOptions = {}): string {
    const replied = this.messages.find(({ id }) => id === replyTo);
    const reply =
      replyTo === undefined
        ? {}
        : {
            type: 19,
            message_reference: { message_id: replyTo, channel_id: channel },
            referenced_message: replied ?? null,
          };
    const attachments = files.map((file) => this.#attach(channel, file));
    const message = this.#message({ channel, author: from, content: text, attachments, ...reply, ...more });
    this.#dispatchMessage("MESSAGE_CREATE", message);
    return message.id;
  }

  edit(id: string, content: string, more: object = {}): void {
    const message = this.#find(id);
    Object.assign(message, { content, edited_timestamp: new Date().toISOString(), ...more });
    this.#dispatchMessage("MESSAGE_UPDATE", message);
  }

  /** Discord shows a preview of a link: an update that is no edit. */
  embed(id: string): void {
    const message = this.#find(id);
    message.embeds = [{ type: "link", title: "A page", url: "https://example.test/" }];
    this.#dispatchMessage("MESSAGE_UPDATE", message);
  }

  remove(...ids: readonly string[]): void {
    const { channel_id: channel } = this.#find(ids[0]!);
    this.#forget(ids);
    const at = { channel_id: channel, ...this.#guildOf(channel) };
    if (ids.length === 1) this.dispatch("MESSAGE_DELETE", { id: ids[0], ...at });
    else this.dispatch("MESSAGE_DELETE_BULK", { ids, ...at });
  }

  react(id: string, emoji: string, from = ADA, type = "MESSAGE_REACTION_ADD"): void {
    const { channel_id: channel, author } = this.#find(id);
    const guild = this.#guildOf(channel);
    const member =
      guild.guild_id === undefined || type !== "MESSAGE_REACTION_ADD"
        ? {}
        : { member: { user: from, nick: null } };
    const reaction = {
      user_id: from.id,
      channel_id: channel,
      message_id: id,
      emoji: { id: null, name: emoji },
    };
    this.dispatch(type, { ...reaction, ...guild, ...member, message_author_id: author.id });
  }

  press(id: string, data: string, from = ADA): string {
    const message = this.#find(id);
    return this.#interact(
      { type: 3, data: { component_type: 2, custom_id: data }, message },
      message.channel_id,
      from,
    );
  }

  command(name: string, options: readonly object[] = [], { channel = DM, from = ADA } = {}): string {
    return this.#interact({ type: 2, data: { id: "9", type: 1, name, options } }, channel, from);
  }

  dispatch(type: string, data: Loose): void {
    for (const session of this.#sessions.values()) this.#log(session, type, data);
  }

  /** A frame as it is. */
  raw(text: string): void {
    for (const socket of this.#sockets.clients) socket.send(text);
  }

  /** op 7. */
  askToReconnect(): void {
    this.raw(JSON.stringify({ op: 7, d: null }));
  }

  /** op 9. A session that cannot be resumed is gone; one that can be brings nothing more until it is. */
  invalidate(isResumable: boolean): void {
    if (!isResumable) this.forgetSessions();
    for (const session of this.#sessions.values()) session.socket = undefined;
    this.raw(JSON.stringify({ op: 9, d: isResumable }));
  }

  forgetSessions(): void {
    this.#sessions.clear();
  }

  cut(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#server.closeAllConnections();
  }

  close(code: number): void {
    for (const socket of this.#sockets.clients) socket.close(code);
  }

  /** The connections of now bring nothing more, and no heartbeat of theirs is answered. */
  deafen(): void {
    for (const socket of this.#sockets.clients) this.#deaf.add(socket);
  }

  fail(request: string, ...faults: readonly DiscordFault[]): void {
    this.#faults.set(request, [...(this.#faults.get(request) ?? []), ...faults]);
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  revoke(): void {
    this.#isRevoked = true;
    this.close(4004);
  }

  switchIntentOff(): void {
    this.#hasIntent = false;
  }

  /** The bot sees a channel no more. */
  hide(channel: string): void {
    this.#hidden.add(channel);
  }

  /** All addresses of files that were given so far end. */
  expireFiles(): void {
    this.#generation++;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  // The gateway

  #connect(socket: WebSocket): void {
    if (this.isMute) return;
    const hello = { op: 10, s: null, t: null, d: { heartbeat_interval: this.heartbeatMs } };
    socket.send(JSON.stringify(hello));
    let session: Session | undefined;
    socket.on("message", (text: Buffer) => {
      if (this.#deaf.has(socket)) return;
      const { op, d } = JSON.parse(text.toString()) as { op: number; d: Loose };
      if (op === 1) {
        this.heartbeats.push(d);
        if (session !== undefined && d !== null) session.acked = d;
        socket.send(JSON.stringify({ op: 11 }));
      } else if (d.token !== this.token || this.#isRevoked) socket.close(4004);
      else if (op === 2) session = this.#identify(socket, d);
      else if (op === 6) session = this.#resume(socket, d);
      else socket.close(4001);
    });
    socket.on("error", () => {});
  }

  #identify(socket: WebSocket, { intents }: Loose): Session | undefined {
    this.identifies++;
    if (typeof intents !== "number") this.violations.push("identify without intents");
    if ((intents & MESSAGE_CONTENT) !== 0 && !this.#hasIntent) {
      socket.close(4014);
      return undefined;
    }
    const session: Session = { id: `session-${this.newId()}`, log: [], acked: 0, socket };
    this.#sessions.set(session.id, session);
    const guilds = [{ id: GUILD.id, unavailable: true }];
    const url = this.gatewayUrl;
    this.#log(session, "READY", {
      v: 10,
      user: BOT,
      guilds,
      session_id: session.id,
      resume_gateway_url: url,
      application: { id: APPLICATION, flags: 0 },
    });
    this.#log(session, "GUILD_CREATE", { ...GUILD, channels: [...this.channels.values()] });
    return session;
  }

  #resume(socket: WebSocket, { session_id: id, seq }: Loose): Session | undefined {
    this.resumes++;
    const session = this.#sessions.get(id);
    const last = session?.log.at(-1)?.s ?? 0;
    if (session === undefined) {
      socket.send(JSON.stringify({ op: 9, d: false }));
      return undefined;
    }
    if (typeof seq !== "number" || seq > last) {
      socket.close(4007);
      return undefined;
    }
    session.acked = Math.max(session.acked, seq);
    session.socket = socket;
    for (const each of session.log) if (each.s > seq) this.#send(session, each);
    // It is in the numbering, and not repeated.
    const resumed = { t: "RESUMED", s: last + 1, d: {} };
    session.log.push(resumed);
    this.#send(session, resumed);
    return session;
  }

  #log(session: Session, t: string, d: Loose): void {
    const each = { t, s: (session.log.at(-1)?.s ?? 0) + 1, d: structuredClone(d) };
    session.log.push(each);
    this.#send(session, each);
  }

  #send({ socket }: Session, each: object): void {
    if (socket !== undefined && socket.readyState === socket.OPEN && !this.#deaf.has(socket))
      socket.send(JSON.stringify({ op: 0, ...each }));
  }

  #interact(act: object, channel: string, from: DiscordUser): string {
    const id = this.newId();
    const guild = this.#guildOf(channel);
    const who = guild.guild_id === undefined ? { user: from } : { member: { user: from, nick: null } };
    this.dispatch("INTERACTION_CREATE", {
      id,
      application_id: APPLICATION,
      token: `it-${id}`,
      version: 1,
      channel_id: channel,
      ...guild,
      ...who,
      ...act,
    });
    return id;
  }

  // REST

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    const { pathname, searchParams } = new URL(request.url ?? "", "http://discord");
    if (pathname.startsWith("/attachments/")) {
      const isFresh = searchParams.get("ex") === String(this.#generation);
      const file = isFresh ? this.#files.get(pathname) : undefined;
      return void response.writeHead(file === undefined ? 404 : 200).end(file);
    }
    const method = request.method ?? "";
    const path = pathname.replace(/^\/api\/v10/, "");
    const { body, files } = await readBody(request);
    this.requests.push({ method, path, body });
    this.violations.push(...discordViolations(method, path, body));
    if (!/^DiscordBot \(.+, .+\)/.test(request.headers["user-agent"] ?? ""))
      this.violations.push(`${path} has no user agent`);
    const needsToken = !path.startsWith("/interactions/");
    if (needsToken && (request.headers.authorization !== `Bot ${this.token}` || this.#isRevoked))
      return reply(response, 401, { message: "401: Unauthorized", code: 0 });
    const fault = this.#faults.get(`${method} ${path.replaceAll(/\d+/g, "*")}`)?.shift();
    if (fault?.kind === "hang") return;
    if (fault?.kind === "cut") return void response.destroy();
    if (fault?.kind === "status")
      return reply(response, fault.status, fault.body ?? { message: "Fault" }, fault.headers);
    const answer = this.#carryOut(method, path, { body, files, query: searchParams });
    if (fault?.kind === "accept-then-cut") return void response.destroy();
    if (answer instanceof Refusal)
      return reply(response, answer.status, { message: answer.message, code: answer.code, ...answer.more });
    reply(response, answer === undefined ? 204 : 200, answer, WEAK);
  }

  #carryOut(
    method: string,
    path: string,
    {
      body,
      files,
      query,
    }: { readonly body: Loose; readonly files: readonly Buffer[]; readonly query: URLSearchParams },
  ): Loose {
    const [, top, id = "", sub, subId = "", last] = path.split("/");
    if (path === "/users/@me") return BOT;
    if (path === "/users/@me/guilds") return [{ id: GUILD.id, name: GUILD.name }];
    if (path === "/applications/@me")
      return { id: APPLICATION, name: "Cortex", flags: this.#hasIntent ? 1 << 19 : 0 };
    if (path === "/gateway/bot")
      return {
        url: this.gatewayUrl,
        shards: 1,
        session_start_limit: {
          total: 1_000,
          remaining: this.sessionsLeft,
          reset_after: 3_600_000,
          max_concurrency: 1,
        },
      };
    if (top === "applications") return (this.commands = body);
    if (top === "interactions") return void this.callbacks.push(body);
    if (top === "guilds") {
      const all = [...this.channels.values()].filter((each) => each.guild_id === id);
      const isThread = ({ type }: DiscordChannel): boolean => type >= 10 && type <= 12;
      if (sub === undefined) return GUILD;
      return sub === "channels"
        ? all.filter((each) => !isThread(each))
        : { threads: all.filter(isThread), members: [] };
    }
    const channel = this.channels.get(id);
    if (channel === undefined) return new Refusal(404, "Unknown Channel", 10_003);
    if (this.#hidden.has(id) || this.#hidden.has(channel.parent_id ?? ""))
      return new Refusal(403, "Missing Access", 50_001);
    if (sub === undefined) return channel;
    if (sub === "typing") return void this.typing.push(id);
    if (sub === "threads") return this.#startThread(channel, body);
    if (subId === "") return method === "GET" ? this.#history(id, query) : this.#create(channel, body, files);
    const message = this.messages.find((each) => each.id === subId && each.channel_id === id);
    if (message === undefined) return new Refusal(404, "Unknown Message", 10_008);
    if (last === "threads")
      return this.channels.has(subId)
        ? new Refusal(400, "A thread has already been created for this message", 160_004)
        : this.#startThread(channel, body, subId);
    if (last === "reactions") return void this.reactions.push(decodeURIComponent(path.split("/")[6]!));
    if (method === "GET") return this.#withFreshFiles(message);
    if (method === "DELETE") return this.remove(subId);
    if (message.author.id !== BOT.id)
      return new Refusal(403, "Cannot edit a message authored by another user", 50_005);
    Object.assign(message, body, { edited_timestamp: new Date().toISOString() });
    this.#dispatchMessage("MESSAGE_UPDATE", message);
    return message;
  }

  #create(channel: DiscordChannel, body: Loose, files: readonly Buffer[]): Loose {
    const {
      nonce,
      enforce_nonce: isOnce,
      message_reference: reference,
      attachments = [],
      content = "",
    } = body;
    const known = isOnce === true ? this.#nonces.get(nonce) : undefined;
    if (known !== undefined) return known;
    const length = [...content].length;
    if (length > 2_000)
      return new Refusal(400, "Invalid Form Body", 50_035, {
        errors: {
          content: {
            _errors: [{ code: "BASE_TYPE_MAX_LENGTH", message: "Must be 2000 or fewer in length." }],
          },
        },
      });
    const isEmpty =
      content.trim() === "" && files.length === 0 && !body.embeds?.length && body.poll === undefined;
    if (isEmpty) return new Refusal(400, "Cannot send an empty message", 50_006);
    const kept = files.map((file, index) =>
      this.#attach(channel.id, { name: attachments[index]?.filename ?? "file", content: file }),
    );
    const { poll, embeds = [], components = [], flags = 0 } = body;
    const reply = reference === undefined ? {} : { type: 19, message_reference: reference };
    const message = this.#message({
      channel: channel.id,
      author: BOT,
      content: content.trim(),
      attachments: kept,
      embeds,
      components,
      flags,
      ...(poll === undefined ? {} : { poll }),
      ...reply,
    });
    this.#dispatchMessage("MESSAGE_CREATE", { ...message, nonce });
    const answer = { ...message, nonce };
    if (nonce !== undefined) this.#nonces.set(nonce, answer);
    return answer;
  }

  /** Discord knows nonces for some minutes. */
  forgetNonces(): void {
    this.#nonces.clear();
  }

  #startThread(
    { id: parent, guild_id: guild }: DiscordChannel,
    { name }: Loose,
    id = this.newId(),
  ): DiscordChannel {
    const thread: DiscordChannel = {
      id,
      type: 11,
      name,
      guild_id: guild!,
      parent_id: parent,
      owner_id: BOT.id,
    };
    this.addChannel(thread);
    this.dispatch("THREAD_CREATE", thread);
    return thread;
  }

  /** Nonces are not in it. */
  #history(channel: string, query: URLSearchParams): Loose[] {
    const all = this.messages.filter((each) => each.channel_id === channel);
    const limit = Number(query.get("limit") ?? 50);
    const [after, before] = [query.get("after"), query.get("before")];
    const found =
      after === null
        ? all.filter(({ id }) => before === null || BigInt(id) < BigInt(before)).slice(-limit)
        : all.filter(({ id }) => BigInt(id) > BigInt(after)).slice(0, limit);
    return found.toReversed().map((each) => this.#withFreshFiles(each));
  }

  #message({ channel, author, content, attachments = [], ...more }: Loose): Loose {
    const id = this.newId();
    const message = {
      id,
      channel_id: channel,
      author,
      content,
      attachments,
      type: 0,
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      tts: false,
      mention_everyone: false,
      mentions: [],
      mention_roles: [],
      embeds: [],
      components: [],
      pinned: false,
      flags: 0,
      ...more,
    };
    this.messages.push(message);
    this.channels.get(channel)!.last_message_id = id;
    return message;
  }

  /** History has no guild. */
  #dispatchMessage(type: string, message: Loose): void {
    this.dispatch(type, { ...message, ...this.#guildOf(message.channel_id) });
  }

  #attach(channel: string, { name, contentType, content, bytes }: PlayedFile): Loose {
    const id = this.newId();
    const path = `/attachments/${channel}/${id}/${encodeURIComponent(name)}`;
    if (content !== undefined) this.#files.set(path, content);
    return {
      id,
      filename: name,
      size: bytes ?? content?.length ?? 0,
      url: `http://${this.host}${path}?ex=${this.#generation}`,
      ...(contentType === undefined ? {} : { content_type: contentType }),
    };
  }

  file(url: string): Buffer | undefined {
    return this.#files.get(new URL(url).pathname);
  }

  #withFreshFiles(message: Loose): Loose {
    const attachments = message.attachments.map((each: Loose) => ({
      ...each,
      url: each.url.replace(/ex=\d+/, `ex=${this.#generation}`),
    }));
    return { ...message, attachments };
  }

  #guildOf(channel: string): { readonly guild_id?: string } {
    const guild = this.channels.get(channel)?.guild_id;
    return guild === undefined ? {} : { guild_id: guild };
  }

  #find(id: string): Loose {
    const message = this.messages.find((each) => each.id === id);
    if (message === undefined) throw new Error(`No message ${id}`);
    return message;
  }

  #forget(ids: readonly string[]): void {
    for (const id of ids) this.messages.splice(this.messages.indexOf(this.#find(id)), 1);
  }
}

export function startDiscord(options?: { readonly heartbeatMs?: number }): Promise<FakeDiscord> {
  return new FakeDiscord(options).listen();
}

class Refusal {
  readonly status: number;
  readonly message: string;
  readonly code: number;
  readonly more: object;

  constructor(status: number, message: string, code: number, more: object = {}) {
    this.status = status;
    this.message = message;
    this.code = code;
    this.more = more;
  }
}

function reply(
  response: ServerResponse,
  status: number,
  body: Loose,
  headers: Record<string, string> = {},
): void {
  const type = body === undefined ? {} : { "Content-Type": "application/json" };
  response
    .writeHead(status, { ...type, ...headers })
    .end(body === undefined ? undefined : JSON.stringify(body));
}

async function readBody(
  request: IncomingMessage,
): Promise<{ readonly body: Loose; readonly files: Buffer[] }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/"))
    return { body: bytes.length === 0 ? undefined : JSON.parse(bytes.toString()), files: [] };
  const form = await new Response(bytes, { headers: { "Content-Type": type } }).formData();
  const files: Buffer[] = [];
  for (const [name, value] of form)
    if (/^files\[\d+\]$/.test(name) && typeof value !== "string")
      files.push(Buffer.from(await value.arrayBuffer()));
  return { body: JSON.parse(form.get("payload_json") as string), files };
}
