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

test("the page names the limits of a turn and of commands with their defaults", () => {
  expect(KEPT_SHARE).toBe(0.25); // a quarter
  const grouped = (value: number): string => value.toLocaleString("en-US");
  const rows = Array.from(page.matchAll(/^\| `(\w+)` +\| (.+?) +\|/gm), ([, name, value]) => [name, value]);
  expect(rows).toEqual([
    ["modelCalls", String(limits.modelCalls)],
    ["costUsd", String(limits.costUsd)],
    ["wallClockMs", `${limits.wallClockMs / 3_600_000} hour`],
    ["repeatedCalls", String(limits.repeatedCalls)],
    ["memoryMb", grouped(limits.memoryMb)],
    ["processes", grouped(limits.processes)],
    ["cpuSeconds", grouped(limits.cpuSeconds)],
    ["openFiles", grouped(limits.openFiles)],
    ["fileMb", grouped(limits.fileMb)],
  ]);
});

test("the page names the limits of disk space, people and guests with their defaults", () => {
  const { quota, people } = config;
  const { limits: ofPeople, share, openApprovals, attachmentsMbPerDay, guests } = people;
  const settings: Record<string, number> = {
    ...entriesOf("quota", quota),
    ...entriesOf("people.limits", ofPeople),
    "people.share": share,
  };
  const rows = Array.from(page.matchAll(/^\| `((?:quota|people)\.[\w.]+)` +\| (.+?) +\|/gm), (row) =>
    row.slice(1),
  );
  for (const [name, value] of rows)
    expect([name, value]).toEqual([name, settings[name!]?.toLocaleString("en-US")]);
  expect(new Set([...rows.map(([name]) => name), "quota.warnAt"])).toEqual(new Set(Object.keys(settings)));
  expect(text).toContain(`At ${quota.warnAt * 100} % (\`quota.warnAt\`)`);
  expect(text).toContain(`\`people.openApprovals\` (${openApprovals})`);
  expect(text).toContain(`\`people.attachmentsMbPerDay\` (${attachmentsMbPerDay})`);
  expect(Object.keys(guests)).toEqual(["eventsPerDay", "allEventsPerDay", "characters"]);
});

function entriesOf(path: string, values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${path}.${name}`, value]));
}
