import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../test/support/temporary.ts";
import { atLeast, type Goal, none, under, within } from "./goal.ts";
import { readResults, type Result, saveResult, summarize } from "./results.ts";

const TITLES = { start: "Start: how soon", speed: "Speed: how fast", depth: "Depth: how deep" };

test("the summary has a row for each goal, in the order of the benchmarks, and counts what was missed", () => {
  const summary = summarize(
    {
      speed: of([atLeast({ what: "messages/s", value: 1.64, limit: 3, unit: "×", beside: "peer: 10" })]),
      start: of([under({ what: "ready", value: 22.4, limit: 100, unit: "ms", beside: "bare node: 26 ms" })]),
    },
    Object.keys(TITLES),
  );
  expect(summary).toBe(`\
| bench | what       | goal         | figure  | goal is    | peer or limit    | measured                      |
| ----- | ---------- | ------------ | ------- | ---------- | ---------------- | ----------------------------- |
| start | ready      | under 100 ms | 22.4 ms | met        | bare node: 26 ms | 2026-01-02 03:04 UTC, abc1234 |
| speed | messages/s | at least 3×  | 1.6×    | **missed** | peer: 10         | 2026-01-02 03:04 UTC, abc1234 |

2 goals, 1 missed. Not measured yet: depth.
`);
});

test("a goal is met or missed by what was measured, and neither where nothing was", () => {
  const verdicts = (make: (value: number | undefined) => Goal, values: readonly (number | undefined)[]) =>
    values.map((value) => make(value).verdict);
  const limits = { what: "it", limit: 10 };
  expect(verdicts((value) => under({ ...limits, value }), [9.9, 10, undefined])).toEqual([
    "met",
    "missed",
    "not measured",
  ]);
  expect(verdicts((value) => atLeast({ ...limits, value }), [10, 9.9])).toEqual(["met", "missed"]);
  expect(verdicts((value) => within({ ...limits, value }), [-10, 10.1, -11])).toEqual([
    "met",
    "missed",
    "missed",
  ]);
  expect(verdicts((value) => none({ what: "it", value }), [0, 1])).toEqual(["met", "missed"]);
});

test("saving one benchmark replaces its rows and its section, and keeps those of the others", () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "results.json"), "{}");
  writeFileSync(join(folder.path, "RESULTS.md"), "");
  const save = (name: keyof typeof TITLES, figure: number): void => {
    const goal = under({ what: `figure of ${name}`, value: figure, limit: 5, unit: "ms" });
    const section = `## ${TITLES[name]}\n\nMeasured as ${figure}.\n`;
    saveResult({ name, result: of([goal]), section }, TITLES, folder.path);
  };
  save("speed", 1);
  save("start", 2);
  save("speed", 7);

  const text = readFileSync(join(folder.path, "RESULTS.md"), "utf8");
  expect(text).toContain(summarize(readResults(folder.path), Object.keys(TITLES)));
  expect(text.match(/^(\| s|Measured as).*/gm)).toEqual([
    expect.stringMatching(/figure of start .* 2 ms /),
    expect.stringMatching(/figure of speed .* 7 ms .*missed/),
    "Measured as 2.",
    "Measured as 7.",
  ]);
});

test("the summary in the repository is made of the results that are kept beside it", () => {
  const text = readFileSync(join(import.meta.dirname, "RESULTS.md"), "utf8");
  const results = readResults();
  const [rows] = summarize(results, Object.keys(results)).split("\n\n");
  expect(text).toContain(rows);
});

function of(goals: readonly Goal[]): Result {
  return { measured: "2026-01-02 03:04 UTC", commit: "abc1234", goals };
}
