import { expect, test } from "vitest";

import { describeFailure, MAX_FAILURE_LENGTH } from "./describe-failure.ts";

test("what was thrown is one line of a bounded length", () => {
  expect(describeFailure(new TypeError("first\n  second"), "/hooks")).toBe("TypeError: first second");
  expect(describeFailure({ some: "thing" }, "/hooks")).toBe('It threw {"some":"thing"}');
  const long = describeFailure(new Error("😀".repeat(MAX_FAILURE_LENGTH)), "/hooks");
  expect(long).toHaveLength(MAX_FAILURE_LENGTH);
  expect(long.endsWith("…")).toBe(true);
  expect(long.isWellFormed()).toBe(true);
});
