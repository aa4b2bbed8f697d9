/**
 * Turns a webhook into an event. The raw body is the content; parsed JSON or form fields are the payload.
 */
import { WEBHOOK_ADAPTER } from "../../model/event.ts";
import type { Json } from "../../model/json.ts";
import { type Scheme, verifyWebhook, type WebhookRequest } from "../verify-webhook.ts";

type Received =
  | { readonly kind: "event"; readonly event: WebhookEvent }
  /** Slack expects it back before it sends events. */
  | { readonly kind: "challenge"; readonly challenge: string };

export interface WebhookEvent {
  readonly adapter: string;
  /** The sender's delivery id: a redelivery is the same event. */
  readonly sourceId?: string;
  readonly channel: "webhook";
  readonly sender: string;
  readonly content: string | null;
  readonly contentType: string;
  readonly payload?: Json;
  readonly metadata: Json;
  readonly timestampMs: number;
}

export type WebhookSource =
  | { readonly scheme: "unsigned" }
  | { readonly scheme: Exclude<Scheme, "unsigned">; readonly secret: string };

/** Throws `signature_invalid`. */
export function receiveWebhook(
  request: WebhookRequest,
  given: { readonly name: string; readonly source: WebhookSource; readonly nowMs: number },
): Received {
  const { name, source, nowMs } = given;
  const { scheme } = source;
  const signedAtMs =
    source.scheme === "unsigned"
      ? undefined
      : verifyWebhook(source.scheme, request, { secret: source.secret, nowMs });
  const body = readBody(request);
  const fields = fieldsOf(body.payload);
  if (scheme === "slack" && fields["type"] === "url_verification")
    return { kind: "challenge", challenge: textOf(fields["challenge"]) ?? "" };
  const delivery = deliveryOf(scheme, request, fields);
  const type = typeOf(scheme, request, fields);
  const event: WebhookEvent = {
    adapter: `${WEBHOOK_ADAPTER}:${name}`,
    ...(delivery === undefined ? {} : { sourceId: delivery }),
    channel: "webhook",
    sender: name,
    ...body,
    metadata: {
      webhook: name,
      scheme,
      ...(type === undefined ? {} : { type }),
      headers: keptHeaders(request),
    },
    timestampMs: signedAtMs ?? nowMs,
  };
  return { kind: "event", event };
}

interface Body {
  readonly content: string | null;
  readonly contentType: string;
  readonly payload?: Json;
}

function readBody({ header, body }: WebhookRequest): Body {
  const content = decode(body);
  if (content === undefined) {
    return {
      content: null,
      contentType: "binary",
      payload: { base64: Buffer.from(body).toString("base64") },
    };
  }
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(header("content-type") ?? "");
  // `curl -d` declares JSON as a form, and no form starts like this.
  if (isForm && !/^\s*[[{]/.test(content)) {
    if (fieldsIn(content) > MAX_FORM_FIELDS) return { content, contentType: "text" };
    const form = Object.fromEntries(new URLSearchParams(content));
    // GitHub and Slack send JSON in a form of this one field.
    const inside = form["payload"] === undefined ? undefined : parse(form["payload"]);
    return { content, contentType: "form", payload: inside ?? form };
  }
  const payload = parse(content);
  return payload === undefined ? { content, contentType: "text" } : { content, contentType: "json", payload };
}

/** Forms with more fields stay text: parsing half a million takes seconds. */
export const MAX_FORM_FIELDS = 5_000;

function fieldsIn(form: string): number {
  let fields = 1;
  for (let at = form.indexOf("&"); at !== -1; at = form.indexOf("&", at + 1)) fields++;
  return fields;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // binary
  }
}

/** Invalid JSON stays text. */
function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

type Fields = Readonly<Record<string, Json | undefined>>;

function fieldsOf(payload: Json | undefined): Fields {
  return typeof payload === "object" && payload !== null && !Array.isArray(payload)
    ? (payload as Fields)
    : {};
}

function deliveryOf(scheme: Scheme, { header }: WebhookRequest, fields: Fields): string | undefined {
  switch (scheme) {
    case "github":
      return usable(header("X-GitHub-Delivery"));
    case "stripe":
      return usable(fields["id"]);
    case "slack":
      return usable(fields["event_id"]) ?? usable(fields["trigger_id"]);
    case "generic":
    case "unsigned":
      return usable(header("X-Cortex-Delivery")) ?? usable(fields["id"]);
  }
}

/** Only values that certainly identify one delivery: no numbers that JSON rounds. */
function usable(id: Json | undefined): string | undefined {
  if (typeof id === "number") return Number.isSafeInteger(id) ? String(id) : undefined;
  return typeof id === "string" && /^[\x21-\x7e]{1,256}$/.test(id) ? id : undefined;
}

/** The sender's event type, for filters of hooks. */
function typeOf(scheme: Scheme, { header }: WebhookRequest, fields: Fields): string | undefined {
  if (scheme === "github") return header("X-GitHub-Event");
  const inner = scheme === "slack" ? fieldsOf(fields["event"])["type"] : undefined;
  return textOf(inner) ?? textOf(fields["type"]);
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export const MAX_KEPT_HEADER_LENGTH = 256;
const KEPT_HEADERS = [
  "content-type",
  "user-agent",
  "x-event-key",
  "x-event-type",
  "x-github-event",
  "x-github-hook-id",
  "x-gitlab-event",
  "x-gitea-event",
  "x-shopify-topic",
];

/** Headers that describe the content. Others may hold secrets or describe the route. */
function keptHeaders({ header }: WebhookRequest): Json {
  const kept = KEPT_HEADERS.flatMap((name) => {
    const value = header(name);
    return value === undefined ? [] : [[name, value.slice(0, MAX_KEPT_HEADER_LENGTH)] as const];
  });
  return Object.fromEntries(kept);
}
