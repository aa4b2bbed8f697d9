/** Every patch of the harnesses, applied to the source as it is: one that no longer fits need not wait for a long run to be found. */
import { parseSync } from "oxc-parser";
import { expect, test } from "vitest";

import { SIMULATED_BUGS } from "../simulation/seeded-bugs.ts";
import { applyPatches, deathPoints, type Patch, SEEDED_BUGS, STORE_POINTS } from "./patched-source.ts";
import { RUNTIME_POINTS } from "./runtime/points.ts";
import { RUNTIME_BUGS } from "./runtime/seeded-bugs.ts";

const POINTS = [
  { name: "store", patches: deathPoints(STORE_POINTS, []).patches },
  { name: "runtime", patches: deathPoints(RUNTIME_POINTS, []).patches },
];

const BUGS = [
  ...SEEDED_BUGS.map(({ name, patches }) => ({ harness: "store", name, patches })),
  ...RUNTIME_BUGS.map(({ name, patches }) => ({ harness: "runtime", name, patches })),
  ...SIMULATED_BUGS.map(({ name, patches }) => ({ harness: "simulation", name, patches })),
];

test.each(POINTS)("the death points of the $name fit the source", ({ patches }) => {
  expect(syntaxErrors(patches)).toEqual([]);
});

test.each(BUGS)("the planted bug of the $harness fits the source: $name", ({ patches }) => {
  expect(syntaxErrors(patches)).toEqual([]);
});

test("every patch that fits nowhere or more than once is named with its file", () => {
  const file = "test/crash/runtime/points.ts";
  const misfits: Patch[] = [
    { file, from: "no such piece", to: "" },
    { file, from: "before(", to: "" },
    { file: "src/gone.ts", from: "a piece", to: "" },
  ];
  expect(() => applyPatches(misfits)).toThrow(
    /^test\/crash\/runtime\/points\.ts contains "no such piece" 0 times.*\n.*"before\(" \d+ times.*\nsrc\/gone\.ts contains "a piece" 0 times/,
  );
});

/** Of the files as they are with the patches, each of which must fit exactly once. */
function syntaxErrors(patches: readonly Patch[]): string[] {
  expect(patches).not.toEqual([]);
  return [...applyPatches(patches)].flatMap(([file, text]) =>
    parseSync(file, text).errors.map(({ message }) => `${file}: ${message}`),
  );
}
