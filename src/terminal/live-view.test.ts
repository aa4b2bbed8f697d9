import { expect, test } from "vitest";

import { fitRows } from "./live-view.ts";

const RESET = "\x1b[0m";

test("what fits is drawn as it is", () => {
  expect(fitRows(["one", "two"], { columns: 10, rows: 2 })).toEqual([`one${RESET}`, `two${RESET}`]);
});

test("of too many lines the last one stays, and it is said how many are missing", () => {
  const lines = ["1", "2", "3", "4", "5", "end"];
  const shown = fitRows(lines, { columns: 40, rows: 4 }).map((line) => line.replace(RESET, ""));
  expect(shown).toEqual(["1", "2", "and 3 more lines", "end"]);
});

test("a line that is too long is cut, whatever its colours", () => {
  expect(fitRows(["\x1b[31mabcdefgh\x1b[39m"], { columns: 5, rows: 5 })).toEqual(["abcd…"]);
});
