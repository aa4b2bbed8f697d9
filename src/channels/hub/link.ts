/**
 * One account of a channel, kept connected.
 *
 *     off → connecting → live → stale → connecting …      backoff: a connection ended, and the next one waits
 *                                                          refused: no credentials, or not taken; a person is needed
 *                                                          conflict: another program reads the account
 *
 * Each attempt is a generation with a connection of its own. A new generation never waits for the end of the old one, which
 * may hang: the old one is aborted, and nothing that it commits counts any more. Only the receiving transport proves that
 * a connection lives: however quiet an account is, it is live while proofs come.
 */
import { CortexError, type ErrorCode, errorText } from "../../model/errors.ts";
import { HOUR_MS, MINUTE_MS } from "../../model/durations.ts";
import type { Json } from "../../model/json.ts";
import type {
  ChannelModule,
  Connection,
  Inbound,
  KnownPlace,
  PlatformReply,
  PlatformRequest,
  Sink,
} from "../channel.ts";

export type LinkState = "off" | "connecting" | "live" | "stale" | "backoff" | "refused" | "conflict";

export interface LinkStatus {
  readonly state: LinkState;
  readonly sinceMs: number;
  /** Since when it is not live. Undefined: it is. */
  readonly downSinceMs: number | undefined;
  readonly lastProofAtMs: number | undefined;
  readonly lastEventAtMs: number | undefined;
  readonly error: string | undefined;
}

export interface LinkPorts {
  readonly module: Pick<ChannelModule, "can">;
  /** Opens a connection. Throws `credentials_missing`. */
  readonly open: () => Connection;
  readonly readCursor: () => Promise<Json | undefined>;
  /** Stores what came in, with the cursor, in one commit: one at a time for the account. */
  readonly commit: (batch: Batch) => Promise<void>;
  readonly knownPlaces: () => Promise<readonly KnownPlace[]>;
  readonly clock: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly log: (line: string) => void;
  /** The state has changed. */
  readonly onChange: (status: LinkStatus) => void;
}

export interface Batch {
  readonly events: readonly Inbound[];
  readonly cursor: Json | undefined;
  /** What brought them, for the files that came with them. */
  readonly connection: Connection;
  /** Throws once a newer connection has taken over: then nothing may be stored any more. */
  readonly requireCurrent: () => void;
}

export const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 5 * MINUTE_MS;
/** The other program may be the previous process of this one, which is ending. */
export const CONFLICT_MS = 30_000;
/** A connection that has lived this long has recovered. */
const RECOVERED_MS = MINUTE_MS;
/** How often places are asked for messages that were missed, however live the connection looks. */
const BACKFILL_MS = HOUR_MS;
/** The shortest time that a connection has to prove that it lives. */
export const MIN_PROOF_MS = 30_000;
/** How long a commit may take before its connection counts as dead: it downloads files. */
export const MAX_COMMIT_MS = 10 * MINUTE_MS;

/** What no further attempt gets over is refused. */
const STATE_OF: Partial<Record<ErrorCode, LinkState>> = {
  config_invalid: "refused",
  package_missing: "refused",
  credentials_missing: "refused",
  credentials_refused: "refused",
  channel_conflict: "conflict",
};

interface Generation {
  readonly connection: Connection;
  readonly ended: AbortController;
  readonly startedAtMs: number;
  provenAtMs: number | undefined;
  /** When the oldest of the commits under way began. */
  committingSinceMs: number | undefined;
  commits: number;
  backfilledAtMs: number | undefined;
}

export class Link implements AsyncDisposable {
  readonly #ports: LinkPorts;
  #state: LinkState = "off";
  #sinceMs: number;
  #downSinceMs: number | undefined;
  #lastProofAtMs: number | undefined;
  #lastEventAtMs: number | undefined;
  #error: string | undefined;
  #failures = 0;
  #retryAtMs = 0;
  #generation: Generation | undefined;

  constructor(ports: LinkPorts) {
    this.#ports = ports;
    this.#sinceMs = ports.clock();
    this.#downSinceMs = this.#sinceMs;
  }

  get status(): LinkStatus {
    return {
      state: this.#state,
      sinceMs: this.#sinceMs,
      downSinceMs: this.#downSinceMs,
      lastProofAtMs: this.#lastProofAtMs,
      lastEventAtMs: this.#lastEventAtMs,
      error: this.#error,
    };
  }

  /** What messages are sent through. Undefined: it is not connected. */
  get connection(): Connection | undefined {
    return this.#generation?.connection;
  }

  get isLive(): boolean {
    return this.#state === "live";
  }

  /** What the platform has sent by HTTP, for the current connection. Undefined: there is none. */
  async handle(request: PlatformRequest): Promise<PlatformReply | undefined> {
    const generation = this.#generation;
    return generation?.connection.handle?.(request, this.#sinkOf(generation));
  }

  /** Connects again at once, whatever it waits for. */
  reconnect(): void {
    this.#failures = 0;
    void this.#abandon();
    this.#connect();
  }

  /** Does what is due: connects, gives a dead connection up, looks for what was missed. */
  look(): void {
    const nowMs = this.#ports.clock();
    const generation = this.#generation;
    if (generation !== undefined) {
      if (this.#isDead(generation, nowMs)) this.#fail("stale", "No sign of life from the platform");
      else if (this.#state === "live") this.#backfill(generation, nowMs);
    } else if (this.#state === "off" || (this.#state !== "refused" && nowMs >= this.#retryAtMs)) {
      this.#connect();
    }
  }

  /** Gives the connection a moment to end well. */
  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#abandon();
    this.#enter("off");
    await ended;
  }

  #connect(): void {
    const { open, clock } = this.#ports;
    let connection: Connection;
    try {
      connection = open();
    } catch (error) {
      return this.#failWith(error);
    }
    const generation: Generation = {
      connection,
      ended: new AbortController(),
      startedAtMs: clock(),
      provenAtMs: undefined,
      committingSinceMs: undefined,
      commits: 0,
      backfilledAtMs: undefined,
    };
    this.#generation = generation;
    this.#enter("connecting");
    const ended = (error: unknown): void => {
      if (this.#generation === generation) this.#failWith(error);
    };
    connection
      .receive(this.#sinkOf(generation), generation.ended.signal)
      .then(() => ended(new Error("The connection ended")), ended);
  }

  #sinkOf(generation: Generation): Sink {
    const { readCursor, commit, clock } = this.#ports;
    return {
      cursor: readCursor,
      commit: async (events, cursor) => {
        const requireCurrent = (): void => this.#requireCurrent(generation);
        requireCurrent();
        generation.commits++;
        generation.committingSinceMs ??= clock();
        try {
          await commit({ events, cursor, connection: generation.connection, requireCurrent });
          if (events.length > 0) this.#lastEventAtMs = clock();
          this.#prove(generation);
        } finally {
          if (--generation.commits === 0) generation.committingSinceMs = undefined;
        }
      },
      proof: () => {
        if (this.#generation === generation) this.#prove(generation);
      },
    };
  }

  #requireCurrent(generation: Generation): void {
    if (this.#generation !== generation) throw new Error("A newer connection has taken over");
  }

  #prove(generation: Generation): void {
    const nowMs = this.#ports.clock();
    generation.provenAtMs = nowMs;
    this.#lastProofAtMs = nowMs;
    if (nowMs - generation.startedAtMs >= RECOVERED_MS) this.#failures = 0;
    if (this.#state !== "connecting") return;
    this.#error = undefined;
    this.#enter("live");
    this.#backfill(generation, nowMs);
  }

  #isDead({ provenAtMs, startedAtMs, committingSinceMs }: Generation, nowMs: number): boolean {
    if (committingSinceMs !== undefined) return nowMs - committingSinceMs > MAX_COMMIT_MS;
    const { proofMs } = this.#ports.module.can;
    return (
      nowMs - (provenAtMs ?? startedAtMs) > Math.max(proofMs, provenAtMs === undefined ? MIN_PROOF_MS : 0)
    );
  }

  /** On connecting, which is after every gap, and hourly. */
  #backfill(generation: Generation, nowMs: number): void {
    const { connection, ended, backfilledAtMs } = generation;
    if (connection.backfill === undefined) return;
    if (backfilledAtMs !== undefined && nowMs - backfilledAtMs < BACKFILL_MS) return;
    generation.backfilledAtMs = nowMs;
    void this.#backfillFrom(generation).catch((error: unknown) => {
      if (ended.signal.aborted) return;
      generation.backfilledAtMs = nowMs - BACKFILL_MS + MINUTE_MS; // tried again in a minute
      this.#ports.log(`Cannot look for missed messages: ${errorText(error)}`);
    });
  }

  async #backfillFrom(generation: Generation): Promise<void> {
    const { connection, ended } = generation;
    const places = await this.#ports.knownPlaces();
    await connection.backfill?.(this.#sinkOf(generation), places, ended.signal);
  }

  #failWith(error: unknown): void {
    const text = errorText(error);
    if (!(error instanceof CortexError)) return this.#fail("backoff", text);
    const told = `${text}. ${error.hint}`;
    const state = STATE_OF[error.code] ?? "backoff";
    return this.#fail(state, told, error.retryAfterMs);
  }

  #fail(state: LinkState, error: string, retryAfterMs = 0): void {
    const { clock, random, log } = this.#ports;
    void this.#abandon();
    this.#failures++;
    const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** (this.#failures - 1), MAX_BACKOFF_MS);
    const pauseMs = state === "conflict" ? CONFLICT_MS : Math.round(backoffMs * (0.5 + random() / 2));
    this.#retryAtMs = clock() + Math.max(pauseMs, retryAfterMs);
    const isNews = this.#error !== error;
    this.#error = error;
    this.#enter(state);
    if (isNews) log(error);
  }

  /** Nobody has to wait for the end of a connection, which may hang. */
  async #abandon(): Promise<void> {
    const generation = this.#generation;
    this.#generation = undefined;
    if (generation === undefined) return;
    generation.ended.abort();
    try {
      await generation.connection[Symbol.asyncDispose]();
    } catch (error) {
      this.#ports.log(`An old connection did not end well: ${errorText(error)}`);
    }
  }

  #enter(state: LinkState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#sinceMs = this.#ports.clock();
    if (state === "live") this.#downSinceMs = undefined;
    else this.#downSinceMs ??= this.#sinceMs;
    this.#ports.onChange(this.status);
  }
}
