import { expect, test } from "vitest";

import { scriptKindOf, parseHeader } from "./parse-header.ts";

const HEADER = `#!/usr/bin/env node
// A licence.
/**
 * @name Human Readable Name
 * @description What this hook does,
 *   over two lines
 * @mode one-shot
 * @starts disabled
 * @origin agent
 */
export default () => ({ fire: false });
/** @name Another */`;

test("the first comment of a file says what its hook is", () => {
  expect(parseHeader(HEADER)).toEqual({
    title: "Human Readable Name",
    description: "What this hook does, over two lines",
    mode: "one-shot",
    startsDisabled: true,
    origin: "agent",
  });
});

test("a file without a comment says nothing", () => {
  expect(parseHeader("export default () => {};\n/** @name Late */")).toEqual({});
  expect(parseHeader("")).toEqual({});
});

test("a template that was not filled in means the first", () => {
  expect(parseHeader("/** @mode persistent | one-shot */")).toEqual({ mode: "persistent" });
});

test("a tag that means nothing is an error", () => {
  expect(parseHeader("/** @mode oneshot\n * @starts paused */").error).toBe(
    'expected @mode persistent or one-shot, got "oneshot"; expected @starts active or disabled, got "paused"',
  );
});

test.each([
  ["export default async function (ctx) {}", "hook"],
  ["const a = 1; export default a;", "hook"],
  ["export const hook = { handler() {} };", "hook"],
  ["export { judge as default };", "hook"],
  ['import type { HookContext } from "cortexd/hooks";', "unfinished"],
  ["/** @mode one-shot */\nfunction f() {}", "unfinished"],
  ["console.log(process.argv);", "other"],
  ["// export default\nmodule.exports = 1;", "other"],
])("%j is %s", (text, kind) => {
  expect(scriptKindOf(text)).toBe(kind);
});
