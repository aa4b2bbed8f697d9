/**
 * Verifies that a webhook comes from a sender who knows its secret, by the signature schemes of the large senders. All of
 * them hash the raw body: JSON that was parsed and serialized again is a different text.
 *
 * Schemes that sign the time accept a request for five minutes, which prevents replays. GitHub's scheme does not; there,
 * only the delivery id identifies a repetition.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

import { CortexError } from "../model/errors.ts";

/** unsigned: anyone who knows the address can send. */
export type Scheme = "github" | "stripe" | "slack" | "generic" | "unsigned";

/** A request with its raw body. */
export interface WebhookRequest {
  readonly header: (name: string) => string | undefined;
  readonly body: Uint8Array;
}

/** The tolerated clock difference, in either direction. */
export const TIMESTAMP_WINDOW_MS = 300_000;
/** Stripe signs with the old and the new secret while one replaces the other. */
export const MAX_SIGNATURES = 8;

/** Returns the signing time, if the scheme has one. Throws `signature_invalid`. */
export function verifyWebhook(
  scheme: Exclude<Scheme, "unsigned">,
  request: WebhookRequest,
  { secret, nowMs }: { readonly secret: string; readonly nowMs: number },
): number | undefined {
  const { timestamp, signatures, signed } = readSignature(scheme, request);
  const expected = createHmac("sha256", secret).update(signed).update(request.body).digest("hex");
  // The signature first: a sender without the secret learns nothing about the time.
  if (!signatures.some((signature) => isEqual(signature, expected)))
    throw refused(
      `The signature in ${HEADERS[scheme]} does not match the body`,
      "Check that both ends use the same secret and that no proxy changes the body.",
    );
  if (timestamp === undefined) return undefined;
  const signedAtMs = Number(timestamp) * 1_000;
  if (Math.abs(nowMs - signedAtMs) > TIMESTAMP_WINDOW_MS) throw tooOld(signedAtMs, nowMs);
  return signedAtMs;
}

const HEADERS = {
  github: "X-Hub-Signature-256",
  stripe: "Stripe-Signature",
  slack: "X-Slack-Signature",
  generic: "X-Cortex-Signature",
} as const;

interface Signature {
  readonly timestamp?: string;
  readonly signatures: readonly string[];
  /** The signed text before the body. */
  readonly signed: string;
}

function readSignature(scheme: keyof typeof HEADERS, { header }: WebhookRequest): Signature {
  const name = HEADERS[scheme];
  const value = header(name);
  if (value === undefined)
    throw refused(`Missing header ${name}`, "The sender must sign its requests; see docs/webhooks.md.");
  switch (scheme) {
    case "github":
      return { signatures: [hexAfter("sha256=", value, name)], signed: "" };
    case "stripe": {
      const fields = value.split(",", MAX_SIGNATURES + 2).map((field) => field.trim().split("=", 2));
      const timestamp = checkTimestamp(fields.find(([key]) => key === "t")?.[1], name);
      const signatures = fields.flatMap(([key, hex = ""]) => (key === "v1" ? [hex] : []));
      if (signatures.length === 0) throw malformed(name, value);
      return { timestamp, signatures, signed: `${timestamp}.` };
    }
    case "slack": {
      const timestamp = checkTimestamp(header("X-Slack-Request-Timestamp"), "X-Slack-Request-Timestamp");
      return { timestamp, signatures: [hexAfter("v0=", value, name)], signed: `v0:${timestamp}:` };
    }
    case "generic": {
      const timestamp = checkTimestamp(header("X-Cortex-Timestamp"), "X-Cortex-Timestamp");
      return { timestamp, signatures: [hexAfter("sha256=", value, name)], signed: `${timestamp}.` };
    }
  }
}

function hexAfter(prefix: string, value: string, name: string): string {
  if (!value.startsWith(prefix)) throw malformed(name, value);
  return value.slice(prefix.length);
}

function checkTimestamp(value: string | undefined, name: string): string {
  if (value !== undefined && /^\d{1,12}$/.test(value)) return value;
  throw refused(
    value === undefined ? `Missing header ${name}` : `Invalid time ${shown(value)} in ${name}`,
    "Expected the Unix time in seconds at which the request was signed.",
  );
}

/** Takes the same time wherever the two differ, also in length. */
function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function malformed(name: string, value: string): CortexError {
  return refused(`Invalid signature ${shown(value)} in ${name}`, "See docs/webhooks.md for each scheme.");
}

function tooOld(signedAtMs: number, nowMs: number): CortexError {
  const seconds = Math.round(Math.abs(nowMs - signedAtMs) / 1_000);
  const where = signedAtMs < nowMs ? "ago" : "in the future";
  return refused(
    `The request was signed ${seconds} s ${where} (limit ${TIMESTAMP_WINDOW_MS / 1_000} s)`,
    "Synchronize the clocks of both ends, or sign the request again.",
  );
}

function shown(value: string): string {
  return JSON.stringify(value.slice(0, 80));
}

function refused(message: string, hint: string): CortexError {
  return new CortexError("signature_invalid", message, { hint });
}
