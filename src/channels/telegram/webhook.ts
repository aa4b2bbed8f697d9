/**
 * Telegram's other way in: it sends each update to an address of ours, and again until it is answered with 200.
 *
 * What comes in is known by a secret that is derived from the token, so it needs no place of its own and changes with the
 * token. That the address works is only known from Telegram, which is asked how its last attempts went.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import { CortexError } from "../../model/errors.ts";
import {
  channelConflict,
  deliveryFailed,
  type PlatformReply,
  type PlatformRequest,
  type Sink,
} from "../channel.ts";
import type { TelegramApi } from "./api.ts";
import { UPDATE_KINDS } from "./updates.ts";

/** How often Telegram is asked. The answer is the proof of life, so it is more often than one is due. */
const CHECK_MS = 40_000;
/** One after the other, so that messages arrive in order. */
const MAX_CONNECTIONS = 1;
const SECRET_HEADER = "x-telegram-bot-api-secret-token";

interface WebhookPorts {
  readonly api: TelegramApi;
  readonly secret: string;
  /** Undefined: Cortex has no public address. */
  readonly url: string | undefined;
  readonly clock: () => number;
}

/** Sets the webhook and watches it until the signal aborts. */
export async function watchWebhook(
  sink: Pick<Sink, "proof">,
  signal: AbortSignal,
  { api, secret, url, clock }: WebhookPorts,
): Promise<void> {
  if (url === undefined) throw webhookUrlMissing();
  const wanted = {
    url,
    secret_token: secret,
    allowed_updates: UPDATE_KINDS,
    max_connections: MAX_CONNECTIONS,
  };
  await api.call("setWebhook", wanted, { signal }).catch((error: unknown) => {
    throw error instanceof CortexError && error.code === "delivery_refused" ? urlRefused(error) : error;
  });
  for (let sinceMs = clock(); !signal.aborted;) {
    const checkedAtMs = clock();
    const webhook = await readWebhook(api, signal);
    if (webhook.url !== url) throw takenOver(webhook.url);
    if (webhook.pending > 0 && (webhook.lastError?.atMs ?? 0) > sinceMs) throw unreachable(url, webhook);
    sinceMs = checkedAtMs;
    sink.proof();
    await pause(CHECK_MS, undefined, { signal, ref: false }).catch(() => {}); // aborted
  }
}

/** Commits the update before Telegram is told that it arrived. Throws `signature_invalid`. */
export async function takeUpdate(
  { header, body }: PlatformRequest,
  secret: string,
  commit: (update: unknown) => Promise<void>,
): Promise<PlatformReply> {
  if (!isSame(header(SECRET_HEADER) ?? "", secret)) throw secretWrong();
  let update: unknown;
  try {
    update = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return { status: 400, body: "Expected JSON" };
  }
  await commit(update);
  return { status: 200 };
}

/** In the alphabet and the length that Telegram allows. */
export function secretOf(token: string): string {
  return createHmac("sha256", token).update("cortex telegram webhook").digest("hex");
}

/** In the same time, whatever is given. */
function isSame(given: string, secret: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(secret));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

interface Webhook {
  /** Empty: none is set. */
  readonly url: string;
  readonly pending: number;
  readonly lastError: { readonly message: string; readonly atMs: number } | undefined;
}

interface WebhookInfo {
  readonly url: string;
  readonly pending_update_count: number;
  readonly last_error_date?: number;
  readonly last_error_message?: string;
}

export async function readWebhook(api: TelegramApi, signal: AbortSignal): Promise<Webhook> {
  const info = await api.call<WebhookInfo>("getWebhookInfo", {}, { signal });
  const { url, pending_update_count: pending, last_error_date: seconds, last_error_message: message } = info;
  const lastError =
    seconds === undefined ? undefined : { message: message ?? "no reason given", atMs: seconds * 1_000 };
  return { url, pending, lastError };
}

export function webhookUrlMissing(): CortexError {
  return new CortexError("config_invalid", "Telegram has no address to send messages to", {
    hint: 'Set `server.publicUrl` in cortex.json to the HTTPS address of Cortex, or `channels.telegram.mode` to "poll".',
  });
}

/** In Telegram's words, such as "An HTTPS URL must be provided for webhook". */
function urlRefused(cause: CortexError): CortexError {
  return new CortexError("config_invalid", cause.message, {
    hint: "`server.publicUrl` must be an HTTPS address on port 443, 80, 88 or 8443 that Telegram can reach.",
    cause,
  });
}

function takenOver(url: string): CortexError {
  const what = url === "" ? "removed" : `set to ${url}`;
  return channelConflict(`The webhook of the bot was ${what} by another program`, {
    hint: "Stop it, or create a bot of your own for Cortex.",
  });
}

function unreachable(url: string, { pending, lastError }: Webhook): CortexError {
  return deliveryFailed(
    `Telegram cannot deliver to ${url}: ${lastError?.message}; updates that wait: ${pending}`,
    {
      hint: "Check that the address is reachable from the internet over HTTPS, and that it leads to Cortex.",
    },
  );
}

function secretWrong(): CortexError {
  return new CortexError("signature_invalid", "The secret of the request is missing or wrong", {
    hint: "Only Telegram knows it. It is set again when the channel connects.",
  });
}
