import { createHmac } from "node:crypto";
import { expect, test } from "vitest";

import {
  MAX_FORM_FIELDS,
  MAX_KEPT_HEADER_LENGTH,
  receiveWebhook,
  type WebhookSource,
  type WebhookEvent,
} from "./receive.ts";
import { signatureHeaders } from "./sign.ts";

const NOW_MS = Date.UTC(2026, 10, 15, 9);
const SECRET = "a secret of both ends";
const UNSIGNED: WebhookSource = { scheme: "unsigned" };

function receive(
  source: WebhookSource,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
) {
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const request = { header: (name: string) => byName.get(name.toLowerCase()), body: Buffer.from(body) };
  return receiveWebhook(request, { name: "shop", source, nowMs: NOW_MS });
}

function eventOf(...given: Parameters<typeof receive>): WebhookEvent {
  const received = receive(...given);
  if (received.kind !== "event") throw new Error(`It was a ${received.kind}.`);
  return received.event;
}

test("a signed request is an event of its webhook, with the body as it came and what it says", () => {
  const body = '{ "id": "evt_1", "type": "paid", "amount": 1e2 }';
  const signed = signatureHeaders(body, SECRET, NOW_MS - 5_000);
  const headers = { ...signed, "Content-Type": "application/json", "User-Agent": "shop/1", Cookie: "c" };
  expect(eventOf({ scheme: "generic", secret: SECRET }, body, headers)).toEqual({
    adapter: "webhook:shop",
    sourceId: "evt_1",
    channel: "webhook",
    sender: "shop",
    content: body,
    contentType: "json",
    payload: { id: "evt_1", type: "paid", amount: 100 },
    metadata: {
      webhook: "shop",
      scheme: "generic",
      type: "paid",
      headers: { "content-type": "application/json", "user-agent": "shop/1" },
    },
    timestampMs: NOW_MS - 5_000,
  });
});

test("a signature that is wrong is no event", () => {
  expect(() =>
    receive({ scheme: "generic", secret: "x" }, "{}", signatureHeaders("{}", SECRET, NOW_MS)),
  ).toThrow(expect.objectContaining({ code: "signature_invalid" }));
});

test("GitHub names its deliveries and what happened in headers", () => {
  const hash = createHmac("sha256", SECRET).update('{"id":7}').digest("hex");
  const event = eventOf({ scheme: "github", secret: SECRET }, '{"id":7}', {
    "X-Hub-Signature-256": `sha256=${hash}`,
    "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    "X-GitHub-Event": "push",
  });
  expect(event).toMatchObject({
    sourceId: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    metadata: { type: "push" },
    timestampMs: NOW_MS,
  });
});

function slack(body: string): Parameters<typeof receive> {
  const timestamp = String(NOW_MS / 1_000);
  const hash = createHmac("sha256", SECRET).update(`v0:${timestamp}:${body}`).digest("hex");
  const headers = { "X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": `v0=${hash}` };
  const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
  return [{ scheme: "slack", secret: SECRET }, body, { ...headers, "Content-Type": type }];
}

test("an event of Slack is known by its id, and its type is the inner one", () => {
  const body = JSON.stringify({ type: "event_callback", event_id: "Ev1", event: { type: "app_mention" } });
  expect(eventOf(...slack(body))).toMatchObject({ sourceId: "Ev1", metadata: { type: "app_mention" } });
});

test("Slack gets its challenge back, and there is no event", () => {
  const body = JSON.stringify({ type: "url_verification", challenge: "3eZbrw1a" });
  expect(receive(...slack(body))).toEqual({ kind: "challenge", challenge: "3eZbrw1a" });
  expect(eventOf(UNSIGNED, body).payload).toMatchObject({ type: "url_verification" });
});

test("a form is read as its fields, and JSON within a form as JSON", () => {
  expect(eventOf(...slack("command=%2Fdo&text=a+b&trigger_id=1.2"))).toMatchObject({
    sourceId: "1.2",
    content: "command=%2Fdo&text=a+b&trigger_id=1.2",
    contentType: "form",
    payload: { command: "/do", text: "a b" },
  });
  expect(eventOf(...slack(`payload=${encodeURIComponent('{"type":"block_actions"}')}`)).payload).toEqual({
    type: "block_actions",
  });
});

test.each([
  ["a header", { "X-Cortex-Delivery": "d-1" }, '{"id":"other"}', "d-1"],
  ["the body", {}, '{"id":"evt_1"}', "evt_1"],
  ["a number in the body", {}, '{"id":12}', "12"],
  ["nothing", {}, "{}", undefined],
  ["no list", {}, '[{"id":"x"}]', undefined],
  ["no number that JSON rounds", {}, '{"id":12345678901234567890}', undefined],
  ["no text that cannot be an id", {}, '{"id":"a b"}', undefined],
  ["no text that is too long", { "X-Cortex-Delivery": "x".repeat(257) }, "{}", undefined],
])("the delivery has its id from %s", (_, headers, body, id) => {
  expect(eventOf(UNSIGNED, body, headers).sourceId).toBe(id);
});

test("what is no JSON is a text, and what is no text is kept as base 64", () => {
  expect(eventOf(UNSIGNED, '{"half":', { "Content-Type": "application/json" })).toMatchObject({
    content: '{"half":',
    contentType: "text",
  });
  expect(eventOf(UNSIGNED, "")).toMatchObject({ content: "", contentType: "text" });
  expect(eventOf(UNSIGNED, Buffer.from([0xff, 0x00]))).toMatchObject({
    content: null,
    contentType: "binary",
    payload: { base64: "/wA=" },
  });
});

test("a byte order mark is kept: it is a part of what was signed", () => {
  expect(eventOf(UNSIGNED, "\uFEFF{}").content).toBe("\uFEFF{}");
});

test(`of a header, ${MAX_KEPT_HEADER_LENGTH} characters are kept`, () => {
  const { metadata } = eventOf(UNSIGNED, "{}", { "User-Agent": "x".repeat(300) });
  expect(metadata).toMatchObject({ headers: { "user-agent": "x".repeat(MAX_KEPT_HEADER_LENGTH) } });
});

test("a form with very many fields is kept as a text", () => {
  const type = { "Content-Type": "application/x-www-form-urlencoded" };
  const form = (fields: number): string => Array.from({ length: fields }, () => "a=b").join("&");
  expect(eventOf(UNSIGNED, form(MAX_FORM_FIELDS), type)).toMatchObject({ contentType: "form" });
  const body = form(MAX_FORM_FIELDS + 1);
  const event = eventOf(UNSIGNED, body, type);
  expect([event.content, event.contentType, event.payload]).toEqual([body, "text", undefined]);
});

test("JSON that is said to be a form is JSON all the same", () => {
  const type = { "Content-Type": "application/x-www-form-urlencoded" };
  expect(eventOf(UNSIGNED, '{"id":"p1","amount":250}', type)).toMatchObject({
    sourceId: "p1",
    contentType: "json",
    payload: { id: "p1", amount: 250 },
  });
});
