import { createHmac } from "node:crypto";
import { expect, test } from "vitest";

import { openTestServer, type Sending, type TestServer } from "../../../test/support/server.ts";
import { signatureHeaders } from "./sign.ts";
import { MAX_BODY_BYTES } from "../../feature/route.ts";

const SECRET = "a secret of both ends";
const NO_TOKEN = { authorization: undefined };

function open(): Promise<TestServer> {
  const webhooks = {
    pay: { scheme: "generic", secretEnv: "PAY_SECRET" },
    chat: { scheme: "slack", secretEnv: "PAY_SECRET" },
    door: { scheme: "unsigned" },
  };
  return openTestServer(
    { cortex: { channels: { webhooks } } },
    { environment: { PATH: process.env["PATH"], PAY_SECRET: SECRET } },
  );
}

/** Whatever a program outside would send: signed, and without a token. */
function signed(body: string, headers: Sending["headers"] = {}): Sending {
  const signature = signatureHeaders(body, SECRET, Date.now());
  return { method: "POST", path: "/webhooks/pay", body, headers: { ...NO_TOKEN, ...signature, ...headers } };
}

test("a signed webhook needs no token, and sent twice it is one event", async () => {
  await using server = await open();
  const sending = signed('{"id":"evt_1"}', { "content-type": "application/json" });
  const first = await server.send(sending);
  expect([first.status, first.json]).toEqual([202, { eventId: "webhook:pay:evt_1", fresh: true }]);
  const again = await server.send(sending);
  expect([again.status, again.json]).toEqual([202, { eventId: "webhook:pay:evt_1", fresh: false }]);
  const { json } = await server.send("/api/events?channel=webhook");
  expect(json.items).toMatchObject([{ id: "webhook:pay:evt_1", payload: { id: "evt_1" } }]);
});

const REFUSED: readonly (readonly [what: string, Sending, status: number, code: string])[] = [
  ["a wrong signature", signed("{}", { "X-Cortex-Signature": "sha256=00" }), 401, "signature_invalid"],
  ["no signature", { ...signed("{}"), headers: NO_TOKEN }, 401, "signature_invalid"],
  ["the token instead", { ...signed("{}"), headers: {} }, 401, "signature_invalid"],
  ["a name that nobody has given", { ...signed("{}"), path: "/webhooks/other" }, 404, "webhook_unknown"],
  ["a name from the depths", { ...signed("{}"), path: "/webhooks/__proto__" }, 404, "webhook_unknown"],
  ["a foreign Host", signed("{}", { host: "example.org" }), 403, "origin_forbidden"],
  ["a page of another site", signed("{}", { origin: "http://example.org" }), 403, "origin_forbidden"],
];

test("a webhook that is not in order is refused with a reason, and nothing of it is kept", async () => {
  await using server = await open();
  for (const [what, sending, status, code] of REFUSED) {
    const reply = await server.send(sending);
    expect([what, reply.status, reply.json.error.code]).toEqual([what, status, code]);
    expect(reply.json.error.hint).not.toBe("");
    expect(reply.headers["www-authenticate"]).toBeUndefined();
  }
  expect((await server.send("/api/events")).json.items).toEqual([]);
});

test("a webhook may have 1 MiB, and what has more is refused", async () => {
  await using server = await open();
  const send = (length: number) => server.send(signed(JSON.stringify("x".repeat(length - 2))));
  expect((await send(MAX_BODY_BYTES)).status).toBe(202);
  const reply = await send(MAX_BODY_BYTES + 1);
  expect([reply.status, reply.json.error.code]).toEqual([413, "body_too_large"]);
});

test("Slack's challenge is sent back as it is", async () => {
  await using server = await open();
  const body = JSON.stringify({ type: "url_verification", challenge: "3eZbrw1a" });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const hash = createHmac("sha256", SECRET).update(`v0:${timestamp}:${body}`).digest("hex");
  const headers = { "X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": `v0=${hash}` };
  const reply = await server.send({ ...signed(body), path: "/webhooks/chat", headers });
  expect([reply.status, reply.text]).toEqual([200, "3eZbrw1a"]);
});

test("what is unsigned takes anything from anybody", async () => {
  await using server = await open();
  const body = Buffer.from([0xff, 0xfe]);
  const reply = await server.send({ method: "POST", path: "/webhooks/door", body, headers: NO_TOKEN });
  expect(reply.status).toBe(202);
});
