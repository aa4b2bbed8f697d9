import { expect, test } from "vitest";

import type { PlatformReply } from "../channel.ts";
import { MAX_PLATFORM_REQUESTS, PlatformRequests } from "./requests.ts";

const REQUEST = { method: "POST", query: {}, header: () => undefined, body: async () => new Uint8Array() };

function open(handle: () => Promise<PlatformReply>, bodyMs?: number) {
  const log: string[] = [];
  const connection = { handle, send: async () => ({}), receive: async () => {} } as never;
  return { log, requests: new PlatformRequests({ connection, handle }, (line) => log.push(line), bodyMs) };
}

test("more requests than it takes at once are sent back for later, and then taken", async () => {
  const stored = Promise.withResolvers<void>();
  const { requests } = open(async () => {
    await stored.promise;
    return { status: 200 };
  });
  const taken = Array.from({ length: MAX_PLATFORM_REQUESTS }, () => requests.take(REQUEST));
  const refused = { code: "channel_unavailable", transient: true, retryAfterMs: expect.any(Number) };
  await expect(requests.take(REQUEST)).rejects.toMatchObject(refused);
  stored.resolve();
  await Promise.all(taken);
  expect(await requests.take(REQUEST)).toEqual({ status: 200 });
});

test("a body that does not arrive takes its place for a while only", async () => {
  const { requests } = open(async () => ({ status: 200 }), 1);
  const taken = requests.take({ ...REQUEST, body: () => new Promise(() => {}) });
  await expect(taken).rejects.toMatchObject({ code: "request_invalid" });
});

test("what cannot be stored is logged, and sent again by the platform", async () => {
  const { requests, log } = open(async () => {
    throw new Error("A newer connection has taken over");
  });
  await expect(requests.take(REQUEST)).rejects.toMatchObject({ code: "channel_unavailable" });
  expect(log).toEqual([expect.stringContaining("newer connection")]);
});
