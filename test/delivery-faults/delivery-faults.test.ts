import { expect, test } from "vitest";

import { deliver } from "./deliver.ts";

const DELIVERIES = 300;

test(
  `of ${DELIVERIES} deliveries none is lost, order is kept, and what may come twice says so`,
  { timeout: 120_000 },
  async () => {
    const figures = await deliver({ deliveries: DELIVERIES, seed: 1 });

    expect(figures).toMatchObject({ lost: 0, unmarked: 0, disordered: 0 });
    expect(figures.received).toBe(DELIVERIES + figures.duplicates);
    expect(figures.crashes).toBeGreaterThan(3);
    expect(figures.duplicates).toBeGreaterThan(5);
  },
);
