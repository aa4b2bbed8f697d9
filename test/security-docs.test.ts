import { existsSync } from "node:fs";

import { expect, test } from "vitest";

import { readPage } from "./support/docs.ts";

const page = readPage("docs/security.md");

test("every threat in docs/security.md has a control and names tests, and they are there", () => {
  const [table] = /^\| threat .+\n(?:\|.+\n)+/m.exec(page)!;
  const [, rule, ...threats] = table.trimEnd().split("\n").map(cellsOf);
  expect(rule).toEqual([expect.stringMatching(/^-+$/), expect.anything(), expect.anything()]);
  expect(threats.length).toBeGreaterThan(20);
  const named = threats.map(([threat, control, tests = "", ...others]) => ({
    isWhole: [threat, control].every((cell) => /\p{L}/u.test(cell ?? "")) && others.length === 0,
    threat,
    files: Array.from(tests.matchAll(/`([^`]+)`/g), ([, file]) => file!),
  }));
  const isThere = (file: string): boolean => existsSync(new URL(`../${file}`, import.meta.url));
  const isInOrder = ({ isWhole, files }: (typeof named)[number]): boolean =>
    isWhole && files.length > 0 && files.every(isThere);
  expect(named.filter((each) => !isInOrder(each))).toEqual([]);
});

function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());
}
