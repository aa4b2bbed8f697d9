import { createHmac } from "node:crypto";

/**
 * The generic scheme of webhooks, in and out: the time in seconds, and a hash of the time and the raw body with
 * a secret that both ends know. The time is signed too, so that a message cannot be played back later.
 */
export function signatureHeaders(body: string, secret: string, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return { "X-Cortex-Timestamp": timestamp, "X-Cortex-Signature": `sha256=${signature}` };
}
