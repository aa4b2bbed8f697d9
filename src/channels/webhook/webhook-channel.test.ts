import { createHmac } from "node:crypto";
import { expect, test } from "vitest";

import { CLOSED_PORT } from "../../../test/support/closed-port.ts";
import { START_MS } from "../../../test/support/sample.ts";
import { accept, answer, cut, openReceiver } from "../../../test/support/webhook-receiver.ts";
import type { DeliveryId, TurnId } from "../../model/ids.ts";
import type { OutgoingMessage } from "../channel.ts";
import { MAX_RESPONSE_BYTES, parseRetryAfter } from "./outcome.ts";
import { MAX_AGE_MS, MAX_CONTENT_LENGTH, openWebhookOutlet } from "./webhook-channel.ts";

const clock = () => START_MS;
const never = new AbortController().signal;

const message: OutgoingMessage = {
  key: "delivery-1-0",
  delivery: "delivery-1" as DeliveryId,
  turn: "turn-1" as TurnId,
  address: { channel: "webhook", account: "default", place: "shop" },
  chunk: 0,
  chunks: 1,
  content: "Your order is on its way. 🚚",
  replyTo: "m-7",
  attempt: 2,
  repeat: true,
};

/** Where the name of a variable is given, its value is what is beside it. */
function channelTo(url: string, secretEnv?: string, secret?: string) {
  const shop = { url, ...(secretEnv === undefined ? {} : { secretEnv }) };
  const variable = (name: string) => (name === secretEnv ? secret : undefined);
  return openWebhookOutlet({ targets: { shop }, variable, fetch, clock });
}

function failure(code: string, text: string | RegExp = /./) {
  return expect.objectContaining({
    name: "CortexError",
    code,
    message: expect.stringMatching(text),
    hint: expect.any(String),
  });
}

test("a message arrives as signed JSON with its key", async () => {
  await using receiver = await openReceiver();
  await channelTo(`${receiver.url}/orders?shop=1`, "SHOP", "s3cret").send(message, never);
  const [request] = receiver.received;
  expect(request).toMatchObject({
    path: "/orders?shop=1",
    headers: {
      "content-type": "application/json",
      "idempotency-key": "delivery-1-0",
      "x-cortex-delivery": "delivery-1-0",
      "x-cortex-attempt": "2",
      "x-cortex-repeat": "true",
      "x-cortex-timestamp": String(START_MS / 1_000),
    },
    json: {
      id: "delivery-1-0",
      deliveryId: "delivery-1",
      turnId: "turn-1",
      chunk: 0,
      chunks: 1,
      content: message.content,
      replyTo: "m-7",
      target: { channel: "webhook", account: "default", place: "shop" },
    },
  });
  const hash = createHmac("sha256", "s3cret")
    .update(`${START_MS / 1_000}.${request!.body}`)
    .digest("hex");
  expect(request!.headers["x-cortex-signature"]).toBe(`sha256=${hash}`);
});

test.each([undefined, ""])(
  "where the variable of the secret is %j, nothing is sent, and the error says what to set",
  async (secret) => {
    await using receiver = await openReceiver();
    await expect(channelTo(receiver.url, "SHOP", secret).send(message, never)).rejects.toMatchObject({
      code: "delivery_refused",
      message: 'Cannot sign requests to the webhook target "shop": SHOP is not set',
      hint: expect.stringContaining(
        "Set SHOP in Cortex's environment or in config/.env, then retry the delivery.",
      ),
    });
    expect(receiver.received).toEqual([]);
  },
);

test("without a secret nothing is signed", async () => {
  await using receiver = await openReceiver();
  await channelTo(receiver.url).send(message, never);
  expect(receiver.received[0]!.headers).not.toHaveProperty("x-cortex-signature");
});

test("the body of a message is the same over all attempts", async () => {
  await using receiver = await openReceiver();
  const channel = channelTo(receiver.url);
  await channel.send({ ...message, attempt: 1, repeat: false }, never);
  await channel.send(message, never);
  expect(receiver.received[0]!.body).toBe(receiver.received[1]!.body);
});

test("the longest message stays below what an inbound webhook takes", async () => {
  await using receiver = await openReceiver();
  await channelTo(receiver.url).send({ ...message, content: "\u0001".repeat(MAX_CONTENT_LENGTH) }, never);
  expect(receiver.received[0]!.body.length).toBeLessThan(1024 * 1024);
});

test.each([200, 201, 202, 204])("an answer of %d is a success", async (status) => {
  await using receiver = await openReceiver();
  receiver.behave(answer(status));
  expect(await channelTo(receiver.url).send(message, never)).toEqual({});
});

test.each([400, 401, 403, 404, 410, 413, 422])("an answer of %d is final", async (status) => {
  await using receiver = await openReceiver();
  receiver.behave(answer(status, {}, "no\u001b[2J such\nshop"));
  const sending = channelTo(receiver.url).send(message, never);
  await expect(sending).rejects.toEqual(
    failure("delivery_refused", `answered ${status}: no \\[2J such shop`),
  );
});

test.each([408, 425, 429, 500, 502, 503, 504])("after an answer of %d it is tried again", async (status) => {
  await using receiver = await openReceiver();
  receiver.behave(answer(status, { "Retry-After": "7" }));
  const sending = channelTo(receiver.url).send(message, never);
  await expect(sending).rejects.toEqual(failure("delivery_failed", `answered ${status}`));
  await expect(sending).rejects.toMatchObject({ transient: true, retryAfterMs: 7_000 });
});

test.each([301, 302, 303, 307, 308])(
  "a redirect (%d) is not followed, and the error says where to",
  async (status) => {
    await using elsewhere = await openReceiver();
    await using receiver = await openReceiver();
    receiver.behave(answer(status, { Location: `${elsewhere.url}/new?token=secret` }));
    const sending = channelTo(receiver.url).send(message, never);
    await expect(sending).rejects.toEqual(
      failure("delivery_refused", new RegExp(`with a redirect to ${elsewhere.url}/new$`)),
    );
    expect(elsewhere.received).toEqual([]);
  },
);

test("a message that was taken before the connection broke is uncertain", async () => {
  await using receiver = await openReceiver();
  receiver.behave(cut);
  await expect(channelTo(receiver.url).send(message, never)).rejects.toEqual(
    failure("delivery_uncertain", "during the request"),
  );
  expect(receiver.received).toHaveLength(1);
});

test("a connection that is reset is uncertain", async () => {
  await using receiver = await openReceiver();
  receiver.behave((response) => void response.socket!.resetAndDestroy());
  await expect(channelTo(receiver.url).send(message, never)).rejects.toEqual(failure("delivery_uncertain"));
});

test("a connection that is refused sends nothing, and that is certain", async () => {
  await expect(channelTo(`http://127.0.0.1:${CLOSED_PORT}/`).send(message, never)).rejects.toEqual(
    failure("delivery_failed", "ECONNREFUSED"),
  );
});

test("a receiver that never answers is uncertain when its time is over", async () => {
  await using receiver = await openReceiver();
  receiver.behave(() => {});
  const channel = openWebhookOutlet({
    targets: { shop: { url: receiver.url } },
    variable: () => undefined,
    fetch,
    clock,
    timeoutMs: 20,
  });
  await expect(channel.send(message, never)).rejects.toEqual(failure("delivery_uncertain", "timed out"));
});

test("a send that is cut off is uncertain", async () => {
  await using receiver = await openReceiver();
  const stop = new AbortController();
  receiver.behave(() => stop.abort());
  await expect(channelTo(receiver.url).send(message, stop.signal)).rejects.toEqual(
    failure("delivery_uncertain"),
  );
});

test("of an endless answer only the beginning is read", async () => {
  await using receiver = await openReceiver();
  let written = 0;
  const closed = Promise.withResolvers<void>();
  receiver.behave((response) => {
    response.on("close", closed.resolve);
    response.writeHead(200);
    const part = Buffer.alloc(64 * 1024, "x");
    const pour = (): void => {
      while (!response.destroyed && written < 1024 ** 3 && response.write(part)) written += part.length;
    };
    response.on("drain", pour);
    pour();
  });
  expect(await channelTo(receiver.url).send(message, never)).toEqual({});
  await closed.promise;
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

test("an answer that breaks off after its status still counts", async () => {
  await using receiver = await openReceiver();
  receiver.behave((response) => {
    response.writeHead(200, { "Content-Length": "1000" });
    response.write("taken", () => response.socket!.destroy());
  });
  expect(await channelTo(receiver.url).send(message, never)).toEqual({});
});

test("a long error is shown in one short line", async () => {
  await using receiver = await openReceiver();
  receiver.behave(answer(400, {}, "long ".repeat(MAX_RESPONSE_BYTES)));
  const error = await channelTo(receiver.url)
    .send(message, never)
    .catch((caught: Error) => caught);
  expect((error as Error).message.length).toBeLessThan(300);
});

test.each(["nobody", "__proto__", ""])(
  "the target %j, which nobody configured, is refused",
  async (place) => {
    await using receiver = await openReceiver();
    const sending = channelTo(receiver.url).send(
      { ...message, address: { channel: "webhook", place } },
      never,
    );
    await expect(sending).rejects.toEqual(failure("delivery_refused", `"${place}"`));
  },
);

test.each(["", "shop", "file:///etc/passwd", "ftp://host/", "https://user:hunter2@host/"])(
  "the URL %j is refused when the channel is opened",
  (url) => {
    expect(() => channelTo(url)).toThrow(failure("config_invalid", /^(?!.*hunter2).*"shop"/));
  },
);

test.each<[string | null, number | undefined]>([
  [null, undefined],
  ["120", 120_000],
  ["soon", undefined],
  ["-5", undefined],
  [new Date(START_MS + 60_000).toUTCString(), 60_000],
  [new Date(START_MS - 60_000).toUTCString(), 0],
])("Retry-After: %j is %j ms", (value, expected) => {
  expect(parseRetryAfter(value, START_MS)).toBe(expected);
});

test("a receiver that has recovered takes the next message", async () => {
  await using receiver = await openReceiver();
  const channel = channelTo(receiver.url);
  receiver.behave(cut);
  await expect(channel.send(message, never)).rejects.toEqual(failure("delivery_uncertain"));
  receiver.behave(accept);
  expect(await channel.send(message, never)).toEqual({});
});

test("a receiver may be away for a day: the age of a message ends it before its attempts do", () => {
  const { limits } = channelTo("https://shop.example/");
  expect(limits.maxAgeMs).toBe(MAX_AGE_MS);
  const quickAtFirst = 12;
  const shortestWaitMs = 5 * 60_000;
  expect((limits.maxAttempts! - quickAtFirst) * shortestWaitMs).toBeGreaterThanOrEqual(MAX_AGE_MS);
});
