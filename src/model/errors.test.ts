import { expect, test } from "vitest";

import { CortexError } from "./errors.ts";

test("an error says what happened, for programs and for people, and what to do about it", () => {
  const cause = new Error("EIO");
  const error = new CortexError("store_busy", 'The database "a.db" is busy', {
    hint: "Try again.",
    transient: true,
    cause,
  });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    name: "CortexError",
    code: "store_busy",
    message: 'The database "a.db" is busy',
    hint: "Try again.",
    transient: true,
  });
  expect(error.cause).toBe(cause);
  expect(String(error)).toBe('CortexError: The database "a.db" is busy');
  expect(error.stack).toContain("errors.test.ts");
});

test("an error is final, and has no cause, unless it says so", () => {
  const error = new CortexError("usage", "There is no command", { hint: "`cortex help`" });
  expect(error.transient).toBe(false);
  expect(error.cause).toBeUndefined();
});
