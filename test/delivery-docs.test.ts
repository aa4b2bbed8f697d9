/** The page on delivery shows how to check a signature: this runs what it shows on a real request. */
import { writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

import { openWebhookOutlet } from "../src/channels/webhook/webhook-channel.ts";
import type { DeliveryId } from "../src/model/ids.ts";
import { blocksOf, readPage } from "./support/docs.ts";
import { START_MS } from "./support/sample.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { openReceiver } from "./support/webhook-receiver.ts";

interface Example {
  readonly isFromCortex: (
    headers: IncomingHttpHeaders,
    rawBody: string,
    secret: string,
    nowMs: number,
  ) => boolean;
}

const page = readPage("docs/delivery.md");

test("the example in docs/delivery.md knows a request of ours from every other", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "example.mjs");
  writeFileSync(file, blocksOf(page, "js")[0]!);
  const { isFromCortex } = (await import(pathToFileURL(file).href)) as Example;

  await using receiver = await openReceiver();
  const targets = { shop: { url: receiver.url, secretEnv: "SHOP_SECRET" } };
  await openWebhookOutlet({ targets, variable: () => "s3cret", fetch, clock: () => START_MS }).send(
    {
      key: "delivery-1-0",
      delivery: "delivery-1" as DeliveryId,
      turn: undefined,
      address: { channel: "webhook", place: "shop" },
      chunk: 0,
      chunks: 1,
      content: "Grüße 🚚",
      replyTo: undefined,
      attempt: 1,
      repeat: false,
    },
    new AbortController().signal,
  );
  const { headers, body, json } = receiver.received[0]!;

  expect(isFromCortex(headers, body, "s3cret", START_MS)).toBe(true);
  expect(isFromCortex(headers, body, "another", START_MS)).toBe(false);
  expect(isFromCortex(headers, body.replace("ü", "u"), "s3cret", START_MS)).toBe(false);
  expect(isFromCortex(headers, body, "s3cret", START_MS + 301_000)).toBe(false);
  expect(isFromCortex({}, body, "s3cret", START_MS)).toBe(false);
  const later = { ...headers, "x-cortex-timestamp": String(START_MS / 1_000 + 100) };
  expect(isFromCortex(later, body, "s3cret", START_MS)).toBe(false);

  const shown = JSON.parse(blocksOf(page, "json")[0]!) as object;
  expect(Object.keys(shown)).toEqual(Object.keys(json));
});
