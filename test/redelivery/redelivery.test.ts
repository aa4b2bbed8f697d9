import { expect, test } from "vitest";

import { redeliver } from "./redeliver.ts";

const EVENTS = 600;

test(
  `${EVENTS} events that come up to five times, in any order and over restarts, have one turn each`,
  { timeout: 300_000 },
  async () => {
    const figures = await redeliver({ events: EVENTS, seed: 1 });

    expect(figures.turns).toBe(EVENTS);
    expect(figures.deliveries).toBeGreaterThan(2 * EVENTS);
    expect(figures.waited).toBeGreaterThan(0); // the restarts had something to lose
  },
);
