import { expect, test, vi } from "vitest";

import type { PlatformReply } from "../channel.ts";
import { MAX_PLATFORM_REQUESTS, PLATFORM_BODY_MS, PlatformRequests } from "./requests.ts";

const REQUEST = { method: "POST", query: {}, header: () => undefined, body: async () => new Uint8Array() };

function open(handle: () => Promise<PlatformReply>) {
  const log: string[] = [];
  const connection = { handle, send: async () => ({}), receive: async () => {} } as never;
  return { log, requests: new PlatformRequests({ connection, handle }, (line) => log.push(line)) };
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
  vi.useFakeTimers();
  try {
    const { requests } = open(async () => ({ status: 200 }));
    const taken = requests.take({ ...REQUEST, body: () => new Promise(() => {}) });
    const outcome = expect(taken).rejects.toMatchObject({ code: "request_invalid" });
    await vi.advanceTimersByTimeAsync(PLATFORM_BODY_MS);
    await outcome;
  } finally {
    vi.useRealTimers();
  }
});

test("what cannot be stored is logged, and sent again by the platform", async () => {
  const { requests, log } = open(async () => {
    throw new Error("A newer connection has taken over");
  });
  await expect(requests.take(REQUEST)).rejects.toMatchObject({ code: "channel_unavailable" });
  expect(log).toEqual([expect.stringContaining("newer connection")]);
});
