/**
 * Telegram's servers, as far as bots see them: updates are kept until they are confirmed by a higher offset, a second poller
 * is a conflict, and every request is checked against the official description where that is at hand.
 */
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

interface ApiRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, ReturnType<typeof JSON.parse>>>;
  readonly file?: Buffer | undefined;
}

/** What is done with the next request of a method, instead of answering it. */
type Fault =
  /** Not taken. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly description?: string;
      readonly retryAfter?: number;
    }
  /** Taken, and the connection is cut before the answer. */
  | { readonly kind: "accept-then-cut" }
  | { readonly kind: "cut" }
  /** Never answered. */
  | { readonly kind: "hang" };

export interface FakeTelegram extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** All requests but polls, in order. */
  readonly requests: readonly ApiRequest[];
  /** What is in the chats: messages of the bot. */
  readonly sent: readonly SentMessage[];
  readonly polls: number;
  readonly violations: readonly string[];
  /** Updates that no higher offset has confirmed. */
  readonly unconfirmed: number;
  /** How many polls wait. */
  readonly waitingPolls: number;
  revoke(): void;
  /** Cuts all connections. */
  cut(): void;
  /** Every answer takes this long. */
  delay(ms: number): void;
  /** The poll that waits, or else the next one, is never answered. */
  deafen(): void;
  /** The bot cannot write to this chat any more. */
  expel(chat: number): void;
  fail(method: string, ...faults: readonly Fault[]): void;
  /** A message to the bot. Returns its id. */
  say(text: string, more?: Partial<TelegramMessage>): number;
  edit(message: number, text: string, more?: Partial<TelegramMessage>): void;
  press(message: number, data: string, from?: TelegramUser, chat?: TelegramChat): void;
  react(message: number, emoji: string | undefined, chat?: TelegramChat, user?: TelegramUser): void;
  update(update: object): void;
  /** The id of the next update: Telegram begins anew after a week of silence. */
  renumber(next: number): void;
  /** Files that messages can bring, by their id. */
  readonly files: Map<string, Buffer>;
}

interface SentMessage {
  readonly message_id: number;
  readonly chat_id: string;
  readonly method: string;
  readonly params: Readonly<Record<string, ReturnType<typeof JSON.parse>>>;
  text: string;
  readonly file?: Buffer | undefined;
}

interface TelegramUser {
  readonly id: number;
  readonly is_bot?: boolean;
  readonly first_name?: string;
  readonly username?: string;
}

interface TelegramChat {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup" | "channel";
  readonly title?: string;
}

interface TelegramMessage {
  readonly from: TelegramUser;
  readonly chat: TelegramChat;
  readonly [field: string]: unknown;
}

const BOT = { id: 1_000, is_bot: true, first_name: "Cortex", username: "cortex_bot" };
const TOKEN = "1000:fake-token-of-the-test-bot";
const ADA: TelegramUser = { id: 42, is_bot: false, first_name: "Ada" };
const START_SECONDS = 1_780_000_000;

export async function startTelegram({
  pollMs = 50,
}: { readonly pollMs?: number } = {}): Promise<FakeTelegram> {
  const description = readDescription();
  const updates: { update_id: number }[] = [];
  const requests: ApiRequest[] = [];
  const sent: SentMessage[] = [];
  const violations: string[] = [];
  const faults = new Map<string, Fault[]>();
  const files = new Map<string, Buffer>();
  let token = TOKEN;
  let nextUpdate = 1;
  let nextMessage = 1;
  let polls = 0;
  let delayMs = 0;
  const expelled = new Set<string>();
  /** The poll that waits for an update. */
  let waiting: { answer(updates: readonly object[]): void; conflict(): void; deafen(): void } | undefined;

  const push = (update: object): void => {
    updates.push({ update_id: nextUpdate++, ...update });
    waiting?.answer(updates.slice(0, 100));
  };
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, kind, method = "", ...rest] = /^\/(file\/bot|bot)[^/]*\/(.*)$/.exec(request.url ?? "") ?? [];
    const given = /^\/(?:file\/)?bot([^/]*)\//.exec(request.url ?? "")?.[1];
    if (rest.length > 0 || given !== token) return answer(response, 401, { description: "Unauthorized" });
    if (kind === "file/bot") {
      const content = files.get(method);
      response.writeHead(content === undefined ? 404 : 200).end(content);
      return;
    }
    const called = await readCall(request, method);
    violations.push(...check(called, description));
    if (method !== "getUpdates") requests.push(called);
    if (delayMs > 0) await setTimeout(delayMs);
    const fault = faults.get(method)?.shift();
    if (fault?.kind === "hang") return;
    if (fault?.kind === "cut") return void response.destroy();
    if (fault?.kind === "status") {
      const { status, description: text = "Fault", retryAfter } = fault;
      const parameters = retryAfter === undefined ? {} : { parameters: { retry_after: retryAfter } };
      return answer(response, status, { description: text, ...parameters });
    }
    if (method === "getUpdates") return poll(called, response);
    const result = carryOut(called);
    if (fault?.kind === "accept-then-cut") return void response.destroy();
    if (result instanceof Error)
      return answer(response, result.message.startsWith("Forbidden") ? 403 : 400, {
        description: result.message,
      });
    response.setHeader("Content-Type", "application/json").end(JSON.stringify({ ok: true, result }));
  }

  function poll({ params }: ApiRequest, response: ServerResponse): void {
    polls++;
    waiting?.conflict();
    const offset: number = params["offset"] ?? 0;
    updates.splice(0, updates.findLastIndex((update) => update.update_id < offset) + 1);
    const finish = (): void => {
      clearTimeout(timer);
      waiting = undefined;
    };
    const reply = (found: readonly object[]): void => {
      finish();
      response.setHeader("Content-Type", "application/json").end(JSON.stringify({ ok: true, result: found }));
    };
    const timer = globalThis.setTimeout(() => reply([]), pollMs);
    response.on("close", () => {
      if (!response.writableEnded) finish();
    });
    if (updates.length > 0) return reply(updates.slice(0, params["limit"] ?? 100));
    waiting = {
      answer: reply,
      conflict() {
        finish();
        answer(response, 409, { description: "Conflict: terminated by other getUpdates request" });
      },
      deafen: finish,
    };
  }

  function carryOut({ method, params, file }: ApiRequest): unknown {
    switch (method) {
      case "getMe":
        return { ...BOT, can_read_all_group_messages: false };
      case "getWebhookInfo":
        return { url: "", has_custom_certificate: false, pending_update_count: updates.length };
      case "getFile":
        return { file_id: params["file_id"], file_path: params["file_id"] };
      case "editMessageText": {
        const message = sent.find(({ message_id: id }) => id === Number(params["message_id"]));
        if (message === undefined) return new Error("Bad Request: message to edit not found");
        if (message.text === params["text"]) return new Error("Bad Request: message is not modified");
        message.text = params["text"];
        return { message_id: message.message_id };
      }
      case "sendMessage":
      case "sendDocument":
      case "sendPhoto":
      case "sendVoice":
      case "sendAudio":
      case "sendPoll": {
        const text = (params["text"] ?? params["caption"] ?? "") as string;
        if (text.length > 4_096) return new Error("Bad Request: message is too long");
        if (expelled.has(String(params["chat_id"])))
          return new Error("Forbidden: bot was kicked from the group chat");
        if (String(params["chat_id"]) === "404") return new Error("Bad Request: chat not found");
        const message = {
          message_id: nextMessage++,
          chat_id: String(params["chat_id"]),
          method,
          params,
          text,
          file,
        };
        sent.push(message);
        return { message_id: message.message_id, date: START_SECONDS, chat: { id: params["chat_id"] } };
      }
      default:
        return true;
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: TOKEN,
    requests,
    sent,
    violations,
    files,
    get polls() {
      return polls;
    },
    get unconfirmed() {
      return updates.length;
    },
    get waitingPolls() {
      return waiting === undefined ? 0 : 1;
    },
    revoke: () => void (token = "revoked"),
    cut: () => server.closeAllConnections(),
    delay: (ms) => void (delayMs = ms),
    deafen() {
      if (waiting === undefined) faults.set("getUpdates", [{ kind: "hang" }]);
      else waiting.deafen();
    },
    expel: (chat) => void expelled.add(String(chat)),
    fail: (method, ...next) => void faults.set(method, [...(faults.get(method) ?? []), ...next]),
    say(text, more = {}) {
      const id = nextMessage++;
      push({ message: messageOf(id, text, more) });
      return id;
    },
    edit: (id, text, more = {}) =>
      push({ edited_message: { ...messageOf(id, text, more), edit_date: START_SECONDS + 1 } }),
    press: (id, data, from = ADA, chat) =>
      push({
        callback_query: {
          id: `q${nextUpdate}`,
          from,
          chat_instance: "1",
          message: messageOf(id, "", chat === undefined ? {} : { chat }),
          data,
        },
      }),
    react: (id, emoji, chat = { id: ADA.id, type: "private" }, user = ADA) =>
      push({
        message_reaction: {
          chat,
          message_id: id,
          user,
          date: START_SECONDS,
          old_reaction: [],
          new_reaction: emoji === undefined ? [] : [{ type: "emoji", emoji }],
        },
      }),
    update: push,
    renumber: (next) => void (nextUpdate = next),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function messageOf(id: number, text: string, { from = ADA, ...more }: Partial<TelegramMessage>): object {
  const chat = more["chat"] ?? { id: from.id, type: "private", first_name: from.first_name };
  const said = more["caption"] === undefined && text !== "" ? { text } : {};
  return { message_id: id, date: START_SECONDS + id, ...said, from, ...more, chat };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { "Content-Type": "application/json" })
    .end(JSON.stringify({ ok: false, error_code: status, ...body }));
}

async function readCall(request: IncomingMessage, method: string): Promise<ApiRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/")) return { method, params: JSON.parse(body.toString() || "{}") };
  const form = await new Response(body, { headers: { "Content-Type": type } }).formData();
  const params: Record<string, unknown> = {};
  let file: Buffer | undefined;
  for (const [name, value] of form) {
    if (typeof value === "string") params[name] = /^[[{]/.test(value) ? JSON.parse(value) : value;
    else {
      file = Buffer.from(await value.arrayBuffer());
      params[name] = value.name;
    }
  }
  return { method, params, file };
}

interface Description {
  readonly methods: Readonly<
    Record<
      string,
      { readonly fields?: readonly { name: string; types: readonly string[]; required: boolean }[] }
    >
  >;
}

const DESCRIPTION = fileURLToPath(new URL("../../../shared/data/telegram-bot-api.json", import.meta.url));

/** Whether requests are checked against the official description. */
const HAS_DESCRIPTION = existsSync(DESCRIPTION);

function readDescription(): Description | undefined {
  return HAS_DESCRIPTION ? (JSON.parse(readFileSync(DESCRIPTION, "utf8")) as Description) : undefined;
}

/** What of a request is not as the description has it: an unknown method or parameter, a missing or mistyped one. */
function check({ method, params }: ApiRequest, description: Description | undefined): string[] {
  if (description === undefined) return [];
  const known = description.methods[method];
  if (known === undefined) return [`unknown method ${method}`];
  const { fields = [] } = known;
  const missing = fields.filter(({ name, required }) => required && params[name] === undefined);
  const unknown = Object.keys(params).filter((name) => !fields.some((field) => field.name === name));
  const mistyped = fields.filter(
    ({ name, types }) => params[name] !== undefined && !types.some((type) => fits(params[name], type)),
  );
  return [
    ...missing.map(({ name }) => `${method} misses ${name}`),
    ...unknown.map((name) => `${method} has no ${name}`),
    ...mistyped.map(
      ({ name, types }) => `${method}.${name} is no ${types.join(" or ")}: ${JSON.stringify(params[name])}`,
    ),
  ];
}

function fits(value: unknown, type: string): boolean {
  if (type === "Integer")
    return Number.isInteger(value) || (typeof value === "string" && /^-?\d+$/.test(value));
  if (type === "Float") return typeof value === "number";
  if (type === "String" || type === "InputFile") return typeof value === "string";
  if (type === "Boolean" || type === "True")
    return typeof value === "boolean" || value === "true" || value === "false";
  if (type.startsWith("Array of ")) return Array.isArray(value);
  return typeof value === "object" && value !== null;
}
