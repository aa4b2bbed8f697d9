import * as fc from "fast-check";
import { expect, test } from "vitest";

import { addedText } from "./added-text.ts";

test("what is appended was added", () => {
  expect(addedText("one\n", "one\ntwo\n")).toBe("two\n");
  expect(addedText("", "one")).toBe("one");
  expect(addedText("on", "one")).toBe("e");
});

test("of an edit the lines that are new were added", () => {
  expect(addedText("one\ntwo\nthree\n", "one\n2\nthree\n")).toBe("2");
});

test("a line that was moved was not added", () => {
  expect(addedText("one\ntwo\n", "two\none\n")).toBe("");
});

test("a line that was there once and is there twice was added", () => {
  expect(addedText("[DONE]\nold\n", "new\n[DONE]\n[DONE]\n")).toBe("new\n[DONE]");
});

test("nothing is added by leaving a text as it is or taking from it", () => {
  const line = fc.stringMatching(/^[ab]{0,3}$/);
  fc.assert(
    fc.property(fc.array(line), fc.nat(), (lines, at) => {
      expect(addedText(lines.join("\n"), lines.join("\n"))).toBe("");
      const fewer = lines.filter((_, index) => index !== at % Math.max(1, lines.length));
      expect(addedText(lines.join("\n"), fewer.join("\n")).trim()).toBe("");
    }),
  );
});

test("whatever a step appends is found in what it added", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, appended) => {
      expect(addedText(before, before + appended)).toBe(appended);
    }),
  );
});
