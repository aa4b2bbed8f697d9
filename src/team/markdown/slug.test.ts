import * as fc from "fast-check";
import { expect, test } from "vitest";

import { MAX_SLUG_LENGTH, toSlug } from "./slug.ts";

test.each([
  ["Billing Dev", "billing-dev"],
  ["Chief of Staff", "chief-of-staff"],
  ["Dashboard Dev", "dashboard-dev"],
  ["  R&D -- team  ", "rd-team"],
  ["a\tb\nc", "a-b-c"],
  ["../../etc/passwd", "etcpasswd"],
  ["Zoë", "zo"],
  ["x".repeat(MAX_SLUG_LENGTH), "x".repeat(MAX_SLUG_LENGTH)],
])("the slug of %j is %s", (name, slug) => {
  expect(toSlug(name)).toBe(slug);
});

test.each(["", "   ", "---", "日本語", "!?", "x".repeat(MAX_SLUG_LENGTH + 1)])("%j makes no slug", (name) => {
  expect(() => toSlug(name)).toThrow(expect.objectContaining({ code: "request_invalid" }));
});

test("a slug is its own slug, and a safe name of a folder", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...Array.from("aZ9 -_./\\\téß日\u212A\0")), maxLength: 40 }),
      (rest) => {
        const slug = toSlug(`a ${rest}`);
        expect(slug).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
        expect(toSlug(slug)).toBe(slug);
      },
    ),
  );
});
