/**
 * Webhooks out: each message is a signed POST of JSON to a URL from the config. A place is the name of such a
 * URL, so that no model and no hook can choose where a request goes.
 *
 * The body of a message is the same over all its attempts, as is its `Idempotency-Key`: a receiver that
 * remembers keys takes each message once. What differs from attempt to attempt is in the headers.
 */
import { CortexError } from "../../model/errors.ts";
import { chunkText } from "../../delivery/chunk-text.ts";
import { deliveryRefused, deliveryUncertain, type OutgoingMessage } from "../channel.ts";
import { type Outlet, TEXT_ONLY } from "../outlet.ts";
import { withTimeout } from "../with-timeout.ts";
import { outcomeOf } from "./outcome.ts";
import { connectionFailure } from "../connection-failure.ts";
import { signatureHeaders } from "./sign.ts";

interface WebhookTarget {
  readonly url: string;
  /** The variable with the secret that requests are signed with. Absent: they are not signed. */
  readonly secretEnv?: string;
}

interface WebhookOptions {
  readonly targets: Readonly<Record<string, WebhookTarget>>;
  /** Looks a variable up. */
  readonly variable: (name: string) => string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: () => number;
  readonly timeoutMs?: number;
}

/** A body of this many characters stays below 1 MiB, whatever JSON makes of them. */
export const MAX_CONTENT_LENGTH = 100_000;
/** A receiver has this long to say that it has taken a message. */
const DEFAULT_TIMEOUT_MS = 15_000;
/** Programs are slower to come back than people are to lose interest. */
export const MAX_AGE_MS = 24 * 60 * 60_000;
/** More than fit into the age, at five to ten minutes each: the age decides. */
const MAX_ATTEMPTS = 300;

export function openWebhookOutlet(options: WebhookOptions): Outlet {
  const { targets, variable, fetch, clock, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const urls = new Map(Object.entries(targets).map(([name, { url }]) => [name, parseUrl(name, url)]));
  return {
    name: "webhook",
    limits: { maxAgeMs: MAX_AGE_MS, maxAttempts: MAX_ATTEMPTS },
    onUncertain: "repeat",
    can: TEXT_ONLY,
    render: (markdown) => chunkText(markdown, { maxLength: MAX_CONTENT_LENGTH }),
    isReady: () => true,
    async send(message, cut) {
      const { place } = message.address;
      const url = urls.get(place);
      if (url === undefined) throw targetUnknown(place, [...urls.keys()]);
      const { secretEnv } = targets[place]!;
      const body = JSON.stringify(bodyOf(message));
      const headers = headersOf(message);
      if (secretEnv !== undefined) {
        const secret = variable(secretEnv) ?? "";
        if (secret === "") throw secretMissing(place, secretEnv);
        Object.assign(headers, signatureHeaders(body, secret, clock()));
      }
      const request = { method: "POST", headers, body, redirect: "manual" } as const;
      return withTimeout(
        async (signal) => {
          const response = await fetch(url, { ...request, signal }).catch((error: unknown) => {
            throw signal.aborted
              ? unanswered(place, error)
              : connectionFailure(`the webhook target "${place}"`, error);
          });
          return outcomeOf(response, { place, nowMs: clock() });
        },
        cut,
        timeoutMs,
      );
    },
  };
}

function bodyOf({ key, delivery, chunk, chunks, content, replyTo, address, turn }: OutgoingMessage): object {
  return {
    id: key,
    deliveryId: delivery,
    turnId: turn ?? null,
    chunk,
    chunks,
    content,
    replyTo: replyTo ?? null,
    target: address,
  };
}

function headersOf({ key, attempt, repeat }: OutgoingMessage): Record<string, string> {
  return {
    "Content-Type": "application/json",
    "User-Agent": "cortex",
    "Idempotency-Key": key,
    "X-Cortex-Delivery": key, // what Cortex itself knows a webhook by, where it is the receiver
    "X-Cortex-Attempt": String(attempt),
    "X-Cortex-Repeat": String(repeat),
  };
}

function parseUrl(name: string, text: string): URL {
  const url = URL.parse(text);
  const isGood = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  if (isGood) return url;
  // The URL itself is not shown: it may hold a password.
  throw new CortexError("config_invalid", `Invalid URL of the webhook target "${name}"`, {
    hint: "Use an http or https URL without credentials; put the secret's variable name in `secretEnv`.",
  });
}

function targetUnknown(place: string, names: readonly string[]): CortexError {
  return deliveryRefused(`Unknown webhook target "${place}"`, {
    hint: names.length === 0 ? "No webhook targets are configured." : `Known targets: ${names.join(", ")}.`,
  });
}

/** A message that must be signed is never sent unsigned. */
function secretMissing(place: string, variable: string): CortexError {
  return deliveryRefused(`Cannot sign requests to the webhook target "${place}": ${variable} is not set`, {
    hint: `Set ${variable} in Cortex's environment or in config/.env, then retry the delivery.`,
  });
}

function unanswered(place: string, cause: unknown): CortexError {
  return deliveryUncertain(`The webhook target "${place}" timed out`, {
    hint: "It is retried with the same Idempotency-Key.",
    cause,
  });
}
