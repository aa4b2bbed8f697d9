import { expect, test } from "vitest";

import { findSyntaxError } from "./find-syntax-error.ts";

test("a text that is TypeScript has no error, and is not run", async () => {
  expect(await findSyntaxError("throw new Error('run'); export default (a: number) => a;")).toBeUndefined();
  expect(await findSyntaxError("enum A { B }\nexport default () => A.B;")).toBeUndefined();
});

test("what is wrong with a text is said", async () => {
  expect(await findSyntaxError("export default {")).toMatch(/Expected|Unexpected/);
  expect(await findSyntaxError("const a: number = ;")).toMatch(/Expression expected/);
});
