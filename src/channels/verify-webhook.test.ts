import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { signatureHeaders } from "./webhook/sign.ts";
import { MAX_SIGNATURES, TIMESTAMP_WINDOW_MS, verifyWebhook, type WebhookRequest } from "./verify-webhook.ts";

const NOW_MS = Date.UTC(2026, 10, 15, 9);
const NOW_S = NOW_MS / 1_000;
const SECRET = "a secret of both ends";

function request(body: string | Buffer, headers: Readonly<Record<string, string>>): WebhookRequest {
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { header: (name) => byName.get(name.toLowerCase()), body: Buffer.from(body) };
}

type Signed = "github" | "stripe" | "slack" | "generic";

/** Headers as each sender makes them, of a hash that somebody else has made. */
const HEADERS: Readonly<Record<Signed, (hash: string, timestamp: number) => Record<string, string>>> = {
  github: (hash) => ({ "X-Hub-Signature-256": `sha256=${hash}` }),
  stripe: (hash, timestamp) => ({ "Stripe-Signature": `t=${timestamp},v1=${hash},v0=${"0".repeat(64)}` }),
  slack: (hash, timestamp) => ({
    "X-Slack-Request-Timestamp": String(timestamp),
    "X-Slack-Signature": `v0=${hash}`,
  }),
  generic: (hash, timestamp) => ({
    "X-Cortex-Timestamp": String(timestamp),
    "X-Cortex-Signature": `sha256=${hash}`,
  }),
};
const PREFIX: Readonly<Record<Signed, (timestamp: number) => string>> = {
  github: () => "",
  stripe: (timestamp) => `${timestamp}.`,
  slack: (timestamp) => `v0:${timestamp}:`,
  generic: (timestamp) => `${timestamp}.`,
};
const SCHEMES = Object.keys(HEADERS) as Signed[];
const TIMED = SCHEMES.filter((scheme) => scheme !== "github");

function sign(scheme: Signed, body: string | Buffer, timestamp = NOW_S): Record<string, string> {
  const hash = createHmac("sha256", SECRET).update(PREFIX[scheme](timestamp)).update(body).digest("hex");
  return HEADERS[scheme](hash, timestamp);
}

const refusal = (message: string | RegExp): unknown =>
  expect.objectContaining({ code: "signature_invalid", message: expect.stringMatching(message) as string });

// From docs.github.com, "Validating webhook deliveries", Testing the webhook payload validation.
test("GitHub's published example is accepted", () => {
  const hash = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  const hello = request("Hello, World!", { "X-Hub-Signature-256": `sha256=${hash}` });
  const secret = "It's a Secret to Everybody";
  expect(verifyWebhook("github", hello, { secret, nowMs: NOW_MS })).toBeUndefined();
});

// From docs.slack.dev, "Verifying requests from Slack".
test("Slack's published example is accepted in its time", () => {
  const body =
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V" +
    "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=" +
    "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
    "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
  const slack = request(body, {
    "X-Slack-Request-Timestamp": "1531420618",
    "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
  });
  const secret = "8f742231b10e8888abcd99yyyzzz85a5";
  expect(verifyWebhook("slack", slack, { secret, nowMs: 1_531_420_618_000 })).toBe(1_531_420_618_000);
  expect(() => verifyWebhook("slack", slack, { secret, nowMs: NOW_MS })).toThrow(
    refusal(/s ago \(limit 300 s\)/),
  );
});

// Stripe publishes no whole request with its secret. These are the hashes that the tests of its library for Node hold.
test.each([
  ["", "f7f9bd47fb987337b5796fdc1fdb9ba221d0d5396814bfcaf9521f43fd8927fd"],
  ['{"obj1":"hello","obj2":"world"}', "bebb1a643997f419b315ddba19e6f5411e1ce7f810ba6d3617ce72823092f363"],
  ["\u{1F600}", "837da296d05c4fe31f61d5d7ead035099d9585a5bcde87de952012a78f0b0c43"],
])("of %j, the hash is the one that Stripe's library makes", (body, hash) => {
  const signed = request(body, { "X-Hub-Signature-256": `sha256=${hash}` });
  expect(() => verifyWebhook("github", signed, { secret: "test_secret", nowMs: NOW_MS })).not.toThrow();
});

test.each(SCHEMES)("what openssl signs for %s is accepted", (scheme) => {
  const body = '{"id":"evt_1","text":"Grüße \\u0000"}\n';
  const input = PREFIX[scheme](NOW_S) + body;
  const printed = execFileSync("openssl", ["dgst", "-sha256", "-hmac", SECRET], { input, encoding: "utf8" });
  const hash = /[0-9a-f]{64}/.exec(printed)![0];
  const signed = request(body, HEADERS[scheme](hash, NOW_S));
  expect(verifyWebhook(scheme, signed, { secret: SECRET, nowMs: NOW_MS })).toBe(
    scheme === "github" ? undefined : NOW_MS,
  );
});

test("what Cortex sends by its own scheme, Cortex takes", () => {
  const signed = request("{}", signatureHeaders("{}", SECRET, NOW_MS));
  expect(verifyWebhook("generic", signed, { secret: SECRET, nowMs: NOW_MS })).toBe(NOW_MS);
});

test.each(SCHEMES)("a body of which any bit is another is not %s's", (scheme) => {
  const body = Buffer.from('{"amount":100}');
  const headers = sign(scheme, body);
  fc.assert(
    fc.property(fc.nat({ max: body.length * 8 - 1 }), (bit) => {
      const changed = Buffer.from(body);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(() =>
        verifyWebhook(scheme, request(changed, headers), { secret: SECRET, nowMs: NOW_MS }),
      ).toThrow(refusal("does not match the body"));
    }),
  );
});

test.each(SCHEMES)("with another secret, nothing of %s is accepted", (scheme) => {
  const signed = request("{}", sign(scheme, "{}"));
  for (const secret of [`${SECRET} `, SECRET.toUpperCase(), "x"]) {
    expect(() => verifyWebhook(scheme, signed, { secret, nowMs: NOW_MS })).toThrow(
      refusal("does not match the body"),
    );
  }
});

test.each(TIMED)("a request of %s is good for 300 s, before and after", (scheme) => {
  const signed = request("{}", sign(scheme, "{}"));
  for (const offMs of [-TIMESTAMP_WINDOW_MS, 0, TIMESTAMP_WINDOW_MS]) {
    expect(verifyWebhook(scheme, signed, { secret: SECRET, nowMs: NOW_MS + offMs })).toBe(NOW_MS);
  }
  const verifyAt = (nowMs: number) => () => verifyWebhook(scheme, signed, { secret: SECRET, nowMs });
  expect(verifyAt(NOW_MS + TIMESTAMP_WINDOW_MS + 1_000)).toThrow(refusal("signed 301 s ago"));
  expect(verifyAt(NOW_MS - TIMESTAMP_WINDOW_MS - 1_000)).toThrow(refusal("signed 301 s in the future"));
});

test.each(TIMED)("a new time on an old request of %s is noticed", (scheme) => {
  const hash = createHmac("sha256", SECRET)
    .update(PREFIX[scheme](NOW_S - 3_600))
    .update("{}")
    .digest("hex");
  const moved = request("{}", HEADERS[scheme](hash, NOW_S));
  expect(() => verifyWebhook(scheme, moved, { secret: SECRET, nowMs: NOW_MS })).toThrow(
    refusal("does not match the body"),
  );
});

test("while Stripe replaces a secret, one of its signatures is enough", () => {
  const { "Stripe-Signature": good } = sign("stripe", "{}");
  const both = request("{}", { "Stripe-Signature": good!.replace(",", `,v1=${"0".repeat(64)},`) });
  expect(verifyWebhook("stripe", both, { secret: SECRET, nowMs: NOW_MS })).toBe(NOW_MS);
});

test("a test signature of Stripe counts for nothing", () => {
  const { "Stripe-Signature": good } = sign("stripe", "{}");
  const test = request("{}", { "Stripe-Signature": good!.replace("v1=", "v0=") });
  expect(() => verifyWebhook("stripe", test, { secret: SECRET, nowMs: NOW_MS })).toThrow(
    refusal("Invalid signature"),
  );
});

test.each<[Signed, Record<string, string>, string]>([
  ["github", {}, "Missing header X-Hub-Signature-256"],
  ["github", { "X-Hub-Signature": "sha1=00" }, "Missing header X-Hub-Signature-256"],
  ["github", { "X-Hub-Signature-256": "757107" }, 'Invalid signature "757107"'],
  ["github", { "X-Hub-Signature-256": "sha256=" }, "does not match the body"],
  ["stripe", { "Stripe-Signature": "v1=00" }, "Missing header Stripe-Signature"],
  ["stripe", { "Stripe-Signature": "t=soon,v1=00" }, 'Invalid time "soon" in Stripe-Signature'],
  ["stripe", { "Stripe-Signature": "t=1" }, "Invalid signature"],
  ["slack", { "X-Slack-Signature": "v0=00" }, "Missing header X-Slack-Request-Timestamp"],
  ["generic", { "X-Cortex-Timestamp": "1" }, "Missing header X-Cortex-Signature"],
  ["generic", { "X-Cortex-Timestamp": "1e9", "X-Cortex-Signature": "sha256=00" }, 'Invalid time "1e9"'],
])("a request of %s with %j is refused, and what is missing is said", (scheme, headers, message) => {
  expect(() => verifyWebhook(scheme, request("{}", headers), { secret: SECRET, nowMs: NOW_MS })).toThrow(
    refusal(message),
  );
});

test("whatever the headers hold, an answer is a yes or a refusal", () => {
  fc.assert(
    fc.property(fc.constantFrom(...SCHEMES), fc.string(), fc.string(), (scheme, one, other) => {
      const names = Object.keys(HEADERS[scheme]("", 0));
      const noise = request(
        "{}",
        Object.fromEntries(names.map((name, index) => [name, index === 0 ? one : other])),
      );
      expect(() => verifyWebhook(scheme, noise, { secret: SECRET, nowMs: NOW_MS })).toThrow(refusal(""));
    }),
  );
});

test(`Stripe may send ${MAX_SIGNATURES} signatures, and no more are compared`, () => {
  const { "Stripe-Signature": good } = sign("stripe", "{}");
  const behind = (count: number): WebhookRequest =>
    request("{}", { "Stripe-Signature": good!.replace(",", `,${"v1=00,".repeat(count)}`) });
  const given = { secret: SECRET, nowMs: NOW_MS };
  expect(verifyWebhook("stripe", behind(MAX_SIGNATURES - 1), given)).toBe(NOW_MS);
  expect(() => verifyWebhook("stripe", behind(MAX_SIGNATURES + 1), given)).toThrow(
    refusal("does not match the body"),
  );
});
