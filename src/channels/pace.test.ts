import { expect, test } from "vitest";

import { Pace } from "./pace.ts";

const RATES = { placeMs: (place: string) => (place.startsWith("-") ? 3_000 : 1_000), allMs: 34 };

function open() {
  const world = { nowMs: 0 };
  const pace = new Pace(RATES, () => world.nowMs);
  return { world, take: (place: string) => pace.take({ channel: "telegram", place }) };
}

test("a chat gets three messages at once and then one a second, and a group one in three seconds", () => {
  const { world, take } = open();
  expect(["1", "1", "1", "1"].map(take)).toEqual([0, 0, 0, 1_000]);
  expect(["-1", "-1", "-1", "-1"].map(take)).toEqual([0, 0, 0, 3_000]);
  world.nowMs = 1_000;
  expect(["1", "1", "-1"].map(take)).toEqual([0, 1_000, 2_000]);
});

test("thirty chats are answered at once, and no more than thirty messages leave in a second", () => {
  const { world, take } = open();
  const sentIn = (): number => {
    let sent = 0;
    for (let chat = 0; chat < 100; chat++) if (take(`${world.nowMs}/${chat}`) === 0) sent++;
    return sent;
  };
  expect(sentIn()).toBe(29);
  let sent = 0;
  for (world.nowMs = 10; world.nowMs <= 60_000; world.nowMs += 10) sent += sentIn();
  expect(sent).toBeLessThanOrEqual(60 * 30);
  expect(sent).toBeGreaterThan(60 * 28);
});
