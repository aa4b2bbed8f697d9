/** Takes what a platform sends to an account by HTTP, a bounded number of requests at once. */
import { errorText, CortexError } from "../../model/errors.ts";
import { within } from "../../programs/run-group.ts";
import type { PlatformReply, PlatformRequest } from "../channel.ts";
import type { Link } from "./link.ts";

/** The largest request body of a platform. WhatsApp sends at most 3 MB. */
export const MAX_PLATFORM_BODY_BYTES = 4 * 1024 * 1024;
/** Requests of one account at the same time, those included whose body is still arriving. */
export const MAX_PLATFORM_REQUESTS = 32;
/** How long a body may take to arrive, as nobody has proven yet who sends it. */
const PLATFORM_BODY_MS = 10_000;
const RETRY_AFTER_MS = 5_000;

/** A request whose body has not arrived yet. */
export interface ArrivingRequest extends Omit<PlatformRequest, "body"> {
  readonly body: () => Promise<Uint8Array>;
}

export class PlatformRequests {
  readonly #link: Pick<Link, "handle" | "connection">;
  readonly #log: (line: string) => void;
  readonly #bodyMs: number;
  #running = 0;

  constructor(
    link: Pick<Link, "handle" | "connection">,
    log: (line: string) => void,
    bodyMs = PLATFORM_BODY_MS,
  ) {
    this.#link = link;
    this.#log = log;
    this.#bodyMs = bodyMs;
  }

  /** Throws `channel_unavailable`, and what the connection throws: `signature_invalid`. Undefined: it takes no requests. */
  async take(request: ArrivingRequest): Promise<PlatformReply | undefined> {
    const { connection } = this.#link;
    if (connection === undefined) throw unavailable("is not connected");
    if (connection.handle === undefined) return undefined;
    if (this.#running >= MAX_PLATFORM_REQUESTS) throw unavailable("handles too many requests already");
    this.#running++;
    try {
      const body = await within(request.body(), this.#bodyMs);
      if (typeof body === "string") throw bodyLate(this.#bodyMs);
      return await this.#handle({ ...request, body });
    } finally {
      this.#running--;
    }
  }

  async #handle(request: PlatformRequest): Promise<PlatformReply> {
    try {
      const reply = await this.#link.handle(request);
      if (reply !== undefined) return reply;
    } catch (error) {
      if (error instanceof CortexError) throw error;
      this.#log(`Cannot take a request of the platform: ${errorText(error)}`);
      throw unavailable("failed to store the request", error);
    }
    throw unavailable("was disconnected meanwhile");
  }
}

export function unavailable(why: string, cause?: unknown): CortexError {
  return new CortexError("channel_unavailable", `The channel ${why}`, {
    hint: "Send the request again later.",
    transient: true,
    retryAfterMs: RETRY_AFTER_MS,
    cause,
  });
}

function bodyLate(bodyMs: number): CortexError {
  return new CortexError("request_invalid", `The request body did not arrive within ${bodyMs / 1_000} s`, {
    hint: "Send it again.",
  });
}
