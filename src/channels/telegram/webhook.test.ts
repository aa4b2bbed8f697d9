import { expect, test } from "vitest";

import type { PlatformRequest } from "../channel.ts";
import type { TelegramApi } from "./api.ts";
import { secretOf, takeUpdate, watchWebhook } from "./webhook.ts";

const URL = "https://cortex.example.com/in/telegram";
const NOW_MS = 1_780_000_000_000;
const SECONDS = NOW_MS / 1_000;

function watch(info: object) {
  const calls: string[] = [];
  const api: TelegramApi = {
    async call<Result>(method: string) {
      calls.push(method);
      return { url: URL, pending_update_count: 0, ...info } as Result;
    },
    download: async () => new ReadableStream(),
  };
  const ended = new AbortController();
  let proofs = 0;
  const proof = (): void => {
    proofs++;
    ended.abort();
  };
  const watching = watchWebhook({ proof }, ended.signal, {
    api,
    url: URL,
    secret: "s",
    clock: () => NOW_MS,
  });
  return { watching, calls, proofs: () => proofs };
}

test("that Telegram has the address and delivers to it is the proof of life", async () => {
  const { watching, calls, proofs } = watch({
    last_error_date: SECONDS - 60,
    last_error_message: "an old one",
    pending_update_count: 2,
  });
  await watching;
  expect([calls, proofs()]).toEqual([["setWebhook", "getWebhookInfo"], 1]);
});

test("that Telegram cannot deliver is told in its own words", async () => {
  const { watching, proofs } = watch({
    last_error_date: SECONDS + 5,
    last_error_message: "SSL error",
    pending_update_count: 3,
  });
  await expect(watching).rejects.toMatchObject({
    code: "delivery_failed",
    message: `Telegram cannot deliver to ${URL}: SSL error; updates that wait: 3`,
  });
  expect(proofs()).toBe(0);
});

test.each([
  ["https://other.example.com/hook", "set to https://other.example.com/hook"],
  ["", "removed"],
])("a webhook that another program changed is a conflict: %j", async (url, said) => {
  const { watching } = watch({ url });
  await expect(watching).rejects.toMatchObject({
    code: "channel_conflict",
    message: expect.stringContaining(said),
  });
});

test("an update is taken with the secret only, and answered once it is stored", async () => {
  const secret = secretOf("1:token");
  const request = (header: string | undefined, body = "{}"): PlatformRequest => ({
    method: "POST",
    query: {},
    header: () => header,
    body: Buffer.from(body),
  });
  const stored: unknown[] = [];
  const take = (given: PlatformRequest) =>
    takeUpdate(given, secret, async (update) => void stored.push(update));
  for (const wrong of [undefined, "", secret.slice(1), secretOf("2:token")])
    await expect(take(request(wrong))).rejects.toMatchObject({ code: "signature_invalid" });
  expect(await take(request(secret, '{"update_id": 1}'))).toEqual({ status: 200 });
  expect((await take(request(secret, "{"))).status).toBe(400);
  expect(stored).toEqual([{ update_id: 1 }]);
  const failing = takeUpdate(request(secret), secret, () => Promise.reject(new Error("disk full")));
  await expect(failing).rejects.toThrow("disk full");
});
