import { expect, test } from "vitest";

import { findEnvProblems } from "./environment.ts";

const placesIn = (text: string): string[] => findEnvProblems(text).map(({ source }) => source);

test("lines of .env that mean nothing are told by their number, and not shown", () => {
  expect(placesIn("A=1\nsk-123\n\nexport B = 2\nC D\r\n# E\n")).toEqual([".env:2", ".env:5"]);
  expect(JSON.stringify(findEnvProblems("sk-123"))).not.toContain("sk-123");
});

test("a quoted value may go on over several lines", () => {
  expect(placesIn("KEY=\"-----BEGIN\nabc\n-----END\"\nA='it is\nfine'\nB=it's\nwrong\n")).toEqual([".env:7"]);
});
