import { expect, test } from "vitest";

import { Bell } from "./bell.ts";

test("a ring wakes whoever waits, and also one who begins to wait after it", async () => {
  const bell = new Bell();
  const waiting = bell.next();
  bell.ring();
  bell.ring();
  await waiting;

  const working = bell.next();
  bell.ring();
  await Promise.resolve();
  await working;
  expect(await Promise.race([bell.next(), Promise.resolve("nothing rang since")])).toBe("nothing rang since");
});
