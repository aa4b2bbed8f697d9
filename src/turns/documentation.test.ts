import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { loadFiles } from "../../test/support/config-home.ts";
import { FIRST_COOL_DOWN_MS, MAX_COOL_DOWN_MS } from "./choose-profile.ts";
import { FULL_SHARE, KEPT_SHARE, OLD_RESULT_LENGTH } from "./make-room.ts";
import { GRACE_MS } from "./limits.ts";
import { SUMMARY_SHARE } from "./summarize.ts";

const page = readFileSync(new URL("../../docs/limits-and-faults.md", import.meta.url), "utf8");
const text = page.replaceAll(/\s+/g, " ");
const { config } = await loadFiles({});
const { limits } = config.agents["main" as never]!;

test.each([
  `more than ${FULL_SHARE * 100} % of the model's window`,
  `at most ${SUMMARY_SHARE * 100} % of the window`,
  `to ${OLD_RESULT_LENGTH} characters for results`,
  `${FIRST_COOL_DOWN_MS / 1_000} seconds, doubled after each failure`,
  `at most ${MAX_COOL_DOWN_MS / 60_000} minutes`,
  `abandons it after ${GRACE_MS / 1_000} seconds`,
  `\`silenceMs\` (${limits.silenceMs / 60_000} minutes)`,
  `\`broker.retryMs\` (${config.broker.retryMs / 1_000} second)`,
  `\`broker.maxAttempts\` (${config.broker.maxAttempts})`,
])("the page says: %s", (claim) => {
  expect(text).toContain(claim);
});

test("the page names the limits of a turn with their defaults", () => {
  expect(KEPT_SHARE).toBe(0.25); // a quarter
  const rows = Array.from(page.matchAll(/^\| `(\w+)` +\| (.+?) +\|/gm), ([, name, value]) => [name, value]);
  expect(rows).toEqual([
    ["modelCalls", String(limits.modelCalls)],
    ["costUsd", String(limits.costUsd)],
    ["wallClockMs", `${limits.wallClockMs / 3_600_000} hour`],
    ["repeatedCalls", String(limits.repeatedCalls)],
  ]);
});
