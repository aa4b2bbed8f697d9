import { expect, test } from "vitest";

import type { PersonaId } from "../model/ids.ts";
import { spendingReached } from "./spending.ts";

const ATLAS = "atlas" as PersonaId;
const reached = (limit: number, spent: number, backend: "pi" | "offline" = "pi") =>
  spendingReached(
    ATLAS,
    { spendUsdPerDay: limit },
    { backend },
    {
      dayStartMs: () => 42,
      spentUsd: async (persona, sinceMs) => (persona === ATLAS && sinceMs === 42 ? spent : Infinity),
    },
  );

test("a persona that has spent less than it may goes on", async () => {
  expect(await reached(1, 0.99)).toBeUndefined();
});

test("one that has spent it says so, with the limit", async () => {
  expect(await reached(1, 1)).toMatch(/atlas has spent 1\.00 USD today\. \(Limit `spendUsdPerDay`: 1,/);
});

test("one that may spend nothing asks no model, but the offline one is free", async () => {
  expect(await reached(0, 0)).toMatch(/spent 0\.00/);
  expect(await reached(0, 0, "offline")).toBeUndefined();
});
