import { expect, test } from "vitest";

import { gainedUntrusted, labelNames } from "./label-names.ts";

test("labels are named, with whom they concern where that is known", () => {
  expect(labelNames({ untrusted: true, private: false, outward: true })).toEqual(["untrusted", "outward"]);
  expect(
    labelNames({ untrusted: ["telegram/42", "web"], private: { ann: true, bob: false }, denied: "" }),
  ).toEqual(["untrusted: telegram/42", "untrusted: web", "private: ann"]);
  expect(labelNames({})).toEqual([]);
});

test("only text from others that came since counts as gained", () => {
  const before = ["untrusted: web"];
  expect(gainedUntrusted(before, ["untrusted: web", "private", "untrusted: mail"])).toEqual([
    "untrusted: mail",
  ]);
  expect(gainedUntrusted(before, before)).toEqual([]);
});
