/** The configured webhooks, in and out. */
import assert from "node:assert/strict";

import type { Settings } from "../../config/settings.ts";
import type { AcceptedEvent } from "../../intake/accept-event.ts";
import type { Ports } from "../../feature/ports.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import { CortexError } from "../../model/errors.ts";
import type { Outlet } from "../outlet.ts";
import { receiveWebhook, type WebhookSource } from "./receive.ts";
import { openWebhookOutlet } from "./webhook-channel.ts";

/** A request to a webhook. Its body is read only if its name is known. */
export interface IncomingWebhook {
  readonly header: (name: string) => string | undefined;
  readonly body: () => Promise<Uint8Array>;
}

export type ReceivedWebhook =
  | ({ readonly kind: "event" } & AcceptedEvent)
  /** To be sent back as it is. */
  | { readonly kind: "challenge"; readonly challenge: string };

type WebhookPorts = Pick<Ports, "clock" | "accept" | "log"> & {
  readonly settings: Pick<Settings, "config" | "variable">;
};

export class Webhooks {
  readonly #ports: WebhookPorts;
  /** The minute in which a refusal was last logged. */
  readonly #refusals = new Map<string, number>();

  constructor(ports: WebhookPorts) {
    this.#ports = ports;
  }

  /**
   * Accepts a webhook if its signature is valid. Throws `webhook_unknown`, `webhook_unconfigured`, `signature_invalid`, and
   * what accepting an event throws.
   */
  async receive(name: string, { header, body }: IncomingWebhook): Promise<ReceivedWebhook> {
    const { settings, clock, accept } = this.#ports;
    try {
      const source = sourceOf(name, settings);
      const request = { header, body: await body() };
      const received = receiveWebhook(request, { name, source, nowMs: clock() });
      if (received.kind === "challenge") return received;
      return { kind: "event", ...(await accept(received.event)) };
    } catch (error) {
      if (error instanceof CortexError) this.#logRefusal(name, error);
      // The sender has not shown that it may know how Cortex is configured.
      throw error instanceof CortexError && error.code === "webhook_unconfigured"
        ? unavailable(error)
        : error;
    }
  }

  /** The channel that posts answers to the URLs configured now. */
  openOutlet(): Outlet {
    const { settings, clock } = this.#ports;
    const targets = Object.entries(settings.config().channels.webhooks).flatMap(([name, { deliverTo }]) =>
      deliverTo === undefined ? [] : [[name, deliverTo] as const],
    );
    const { variable } = settings;
    return openWebhookOutlet({ targets: Object.fromEntries(targets), variable, fetch, clock });
  }

  /** At most once a minute each: senders retry, and scanners try many names. */
  #logRefusal(name: string, { code, message, hint }: CortexError): void {
    const { clock, log } = this.#ports;
    const key = code === "webhook_unknown" ? code : `${code} ${name}`;
    const minute = Math.floor(clock() / MINUTE_MS);
    if (this.#refusals.get(key) === minute) return;
    this.#refusals.set(key, minute);
    log(`A webhook to ${JSON.stringify(name.slice(0, 80))} was refused: ${message}. ${hint}`);
  }
}

function sourceOf(name: string, { config, variable }: WebhookPorts["settings"]): WebhookSource {
  const { webhooks } = config().channels;
  const webhook = Object.hasOwn(webhooks, name) ? webhooks[name] : undefined;
  if (webhook?.scheme === undefined) throw webhookUnknown(name);
  const { scheme, secretEnv } = webhook;
  if (scheme === "unsigned") return { scheme };
  assert(secretEnv !== undefined, "the configuration requires it");
  const secret = variable(secretEnv);
  if (secret === undefined || secret === "") throw secretMissing(name, secretEnv);
  return { scheme, secret };
}

function webhookUnknown(name: string): CortexError {
  return new CortexError("webhook_unknown", `Unknown webhook ${JSON.stringify(name.slice(0, 80))}`, {
    hint: "Check the name in the URL. Webhooks are configured in cortex.json, under `channels.webhooks`.",
  });
}

function unavailable(cause: CortexError): CortexError {
  return new CortexError("webhook_unconfigured", "This webhook is not available", {
    hint: "Retry later. See the log or `cortex doctor` for the reason.",
    transient: true,
    cause,
  });
}

function secretMissing(name: string, variable: string): CortexError {
  return new CortexError("webhook_unconfigured", `Webhook "${name}" has no secret: ${variable} is not set`, {
    hint: `Set ${variable} in the environment of Cortex or in config/.env.`,
    transient: true,
  });
}
