/**
 * One connection to Discord's gateway: it is greeted, identifies itself or resumes a session, answers heartbeats, and takes
 * dispatches one batch after the other. What is written to the gateway about the stream is only ever what was stored.
 */
import { credentialsRefused } from "../channel.ts";

export interface Dispatch {
  readonly type: string;
  readonly seq: number;
  /** As Discord has it: by the type. */
  readonly data: unknown;
}

/** What a stream is continued by. */
export interface Session {
  readonly id: string;
  readonly seq: number;
  /** Where to resume. Absent: wherever new sessions begin. */
  readonly url?: string;
}

/** Why a connection has ended, and what must not be used for the next one. */
export interface End {
  readonly error: Error;
  readonly forgets?: "session" | "url";
}

interface GatewayPorts {
  readonly url: string;
  readonly token: string;
  readonly session: Session | undefined;
  /** The last sequence number of what is stored. */
  readonly storedSeq: () => number | undefined;
  /** Called with one batch at a time. */
  readonly take: (dispatches: readonly Dispatch[]) => Promise<void>;
  /** A heartbeat was. */
  readonly answered: () => void;
}

interface Frame {
  readonly op: number;
  readonly t?: string;
  readonly s?: number;
  readonly d?: unknown;
}

/** Guilds, messages and reactions in guilds and in direct messages, and the content of messages. */
const INTENTS = (1 << 0) | (1 << 9) | (1 << 10) | (1 << 12) | (1 << 13) | (1 << 15);
/** Dispatches that wait to be stored. Beyond, the connection ends and Discord sends them again. */
const MAX_WAITING = 10_000;
const MAX_BATCH = 100;
/** Any code but 1000 and 1001 leaves the session alive. */
const LEAVE = 4_000;

export class Gateway {
  readonly #ports: GatewayPorts;
  readonly #socket: WebSocket;
  readonly #waiting: Dispatch[] = [];
  #woken = Promise.withResolvers<void>();
  #end: End | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isGreeted = false;
  #isAnswered = true;

  constructor(ports: GatewayPorts) {
    this.#ports = ports;
    this.#socket = new WebSocket(ports.url);
    this.#socket.addEventListener("message", ({ data }) => this.#read(String(data)));
    this.#socket.addEventListener("close", ({ code }) => {
      const { error, forgets } = endOf(code);
      this.#finish(error, this.#isGreeted ? forgets : "url");
    });
  }

  /** Reads until the connection ends. What was received is stored before. */
  async read(signal: AbortSignal): Promise<End> {
    const abort = (): void => this.#finish(new Error("Abandoned"));
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    try {
      for (;;) {
        await this.#woken.promise;
        this.#woken = Promise.withResolvers();
        while (this.#waiting.length > 0 && !signal.aborted)
          await this.#ports.take(this.#waiting.splice(0, MAX_BATCH));
        if (this.#end !== undefined) return this.#end;
      }
    } finally {
      signal.removeEventListener("abort", abort);
      abort();
    }
  }

  #finish(error: Error, forgets?: End["forgets"]): void {
    this.#end ??= forgets === undefined ? { error } : { error, forgets };
    clearTimeout(this.#timer);
    this.#socket.close(LEAVE);
    this.#woken.resolve();
  }

  #read(text: string): void {
    if (this.#end !== undefined) return;
    try {
      this.#take(JSON.parse(text) as Frame);
    } catch (cause) {
      this.#finish(new Error("Discord sent a frame that cannot be read", { cause }));
    }
  }

  #take({ op, t: type, s: seq, d: data }: Frame): void {
    switch (op) {
      case 0:
        if (typeof type !== "string" || typeof seq !== "number") return;
        if (this.#waiting.length >= MAX_WAITING)
          return this.#finish(new Error("Discord sends more than can be stored"));
        this.#waiting.push({ type, seq, data });
        return this.#woken.resolve();
      case 1:
        return this.#send(1, this.#ports.storedSeq() ?? null);
      case 7:
        return this.#finish(new Error("Discord asked to connect again"));
      case 9:
        return this.#finish(new Error("Discord ended the session"), data === true ? undefined : "session");
      case 10:
        return this.#greet((data as { heartbeat_interval: number }).heartbeat_interval);
      case 11:
        this.#isAnswered = true;
        return this.#ports.answered();
    }
  }

  #greet(everyMs: number): void {
    if (!(everyMs > 0)) throw new Error("it has no heartbeat interval");
    this.#isGreeted = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#beat(everyMs), everyMs * Math.random()); // not all clients at once
    const { token, session } = this.#ports;
    if (session !== undefined) return this.#send(6, { token, session_id: session.id, seq: session.seq });
    const properties = { os: "node", browser: "cortex", device: "cortex" };
    this.#send(2, { token, intents: INTENTS, properties });
  }

  #beat(everyMs: number): void {
    if (!this.#isAnswered) return this.#finish(new Error("Discord did not answer a heartbeat"));
    this.#isAnswered = false;
    this.#send(1, this.#ports.storedSeq() ?? null);
    this.#timer = setTimeout(() => this.#beat(everyMs), everyMs);
  }

  #send(op: number, data: unknown): void {
    this.#socket.send(JSON.stringify({ op, d: data }));
  }
}

/** https://docs.discord.com/developers/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes */
function endOf(code: number): End {
  switch (code) {
    case 4004:
      return {
        error: credentialsRefused("Discord does not accept the bot's token", {
          hint: "Reset it in the Discord Developer Portal (Bot → Reset Token), then run `cortex channels reconnect discord`.",
        }),
      };
    case 4013:
    case 4014:
      return {
        error: credentialsRefused("The Message Content intent of the bot is off", {
          hint: "Switch it on in the Discord Developer Portal (Bot → Privileged Gateway Intents), then run `cortex channels reconnect discord`.",
        }),
      };
    case 4010:
    case 4011:
    case 4012:
      return {
        error: credentialsRefused(`Discord closed the connection for good (code ${code})`, {
          hint: "The bot is in too many servers for one connection, or Discord no longer supports this version of Cortex.",
        }),
      };
    case 4007:
    case 4009:
      return { error: new Error(`Discord ended the session (code ${code})`), forgets: "session" };
    default:
      return { error: new Error(`Discord closed the connection (code ${code})`) };
  }
}
