import { expect, test } from "vitest";

import { withDeadline } from "./send-delivery.ts";

const never = new AbortController().signal;

test("what is done in time is given back", async () => {
  expect(await withDeadline(async () => "done", never)).toBe("done");
  await expect(withDeadline(() => Promise.reject(new Error("no")), never)).rejects.toThrow("no");
});

test("a channel that does not listen is left alone when it is cut off", async () => {
  const cut = new AbortController();
  const sending = withDeadline(() => Promise.withResolvers().promise, cut.signal);
  cut.abort();
  await expect(sending).rejects.toMatchObject({ code: "delivery_uncertain" });
  const late = withDeadline(() => Promise.withResolvers().promise, cut.signal);
  await expect(late).rejects.toMatchObject({ code: "delivery_uncertain" });
});

test("a channel that does not listen is left alone when the time is over", async () => {
  const sending = withDeadline(() => Promise.withResolvers().promise, never, 1);
  await expect(sending).rejects.toMatchObject({ code: "delivery_uncertain" });
});
