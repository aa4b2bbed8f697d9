import { expect, test } from "vitest";

import type { PersonaId } from "../model/ids.ts";
import { limitsReached, spendingReached, usageReached } from "./spending.ts";

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

const LIMITS = { callsPerDay: 5, tokensPerDay: 100, personaCallsPerDay: 3, personaTokensPerDay: 50 };
const use = (calls: number, tokens: number, persona: PersonaId = ATLAS) => ({ persona, calls, tokens });
const byHooks = (calls: number, tokens: number) => ({ persona: undefined, calls, tokens });

test.each([
  ["nothing yet", [], undefined],
  ["less than it may", [use(2, 49)], undefined],
  ["its calls", [use(3, 0)], /^atlas has made 3 model calls today\. \(Limit `usage\.personaCallsPerDay`: 3/],
  ["its tokens", [use(1, 50)], /^atlas has used 50 tokens today\. \(Limit `usage\.personaTokensPerDay`: 50/],
  [
    "all calls, with hooks",
    [use(1, 0), byHooks(4, 0)],
    /^all .* have made 5 model calls.*usage\.callsPerDay/,
  ],
  ["all tokens", [use(1, 0), use(1, 100, "other" as PersonaId)], /used 100 tokens.*usage\.tokensPerDay/],
])("models are asked within the limits of a day: %s", (_, used, words) => {
  const reachedNow = usageReached(used, LIMITS, ATLAS) ?? "";
  expect(reachedNow).toMatch(words ?? /^$/);
});

test("all limits that are used up are named, and those of 0 are not", () => {
  const used = [use(3, 50), use(2, 50, "other" as PersonaId), byHooks(9, 9)];
  expect(limitsReached(used, LIMITS).map(({ what, setting }) => [what, setting])).toEqual([
    ["atlas has made 3 model calls today", "personaCallsPerDay"],
    ["other has used 50 tokens today", "personaTokensPerDay"],
    ["all agents and hooks together have made 14 model calls today", "callsPerDay"],
  ]);
  const nothing = { callsPerDay: 0, tokensPerDay: 0, personaCallsPerDay: 0, personaTokensPerDay: 0 };
  expect(limitsReached([use(1, 1)], nothing)).toEqual([]);
  expect(usageReached([], nothing, ATLAS)).toContain("atlas has made 0 model calls today");
});
