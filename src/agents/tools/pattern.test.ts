import * as fc from "fast-check";
import { expect, test } from "vitest";

import { CortexError } from "../../model/errors.ts";
import { agentPatterns } from "../../patterns/matcher.ts";
import { globPattern } from "./pattern.ts";

async function matchesGlob(glob: string, path: string): Promise<boolean> {
  return (await agentPatterns.test([globPattern(glob)], [path]))[0]![0]!;
}

test.each([
  ["*.ts", "a.ts", true],
  ["*.ts", ".ts", true],
  ["*.ts", "src/a.ts", false],
  ["**/*.ts", "a.ts", true],
  ["**/*.ts", "src/b/a.ts", true],
  ["src/**/a.ts", "src/a.ts", true],
  ["src/**/a.ts", "src/x/y/a.ts", true],
  ["src/**", "src/x/y", true],
  ["src/**", "other/x", false],
  ["a?c", "abc", true],
  ["a?c", "a/c", false],
  ["[a-c].txt", "b.txt", true],
  ["[!a-c].txt", "b.txt", false],
  ["[!a-c]x", "/x", false],
  ["[]x]", "]", true],
  ["*.{ts,js}", "a.js", true],
  ["*.{ts,js}", "a.css", false],
  ["{src,test/unit}/*.ts", "test/unit/a.ts", true],
  ["{a,{b,c}}", "c", true],
  ["a,b", "a,b", true],
  ["a.b", "axb", false],
  ["a+(b)|c$^", "a+(b)|c$^", true],
  [String.raw`\*\{\[`, "*{[", true],
  ["[", "[", true],
  ["*", "a\nb", true],
  ["😀?", "😀😀", true],
])("the glob %s and the path %j: %s", async (glob, path, expected) => {
  expect(await matchesGlob(glob, path)).toBe(expected);
});

test("a glob without special characters matches itself and nothing else", async () => {
  const plain = fc.string().filter((text) => !/[*?[\]{}\\]/.test(text) && text !== "");
  await fc.assert(
    fc.asyncProperty(plain, plain, async (glob, path) => {
      expect(await matchesGlob(glob, path)).toBe(glob === path);
    }),
  );
});

test("any text is a glob or is refused clearly", async () => {
  const text = fc.string({
    unit: fc.constantFrom(..."* ? [ ] { } ! ^ - , \\ / a . ( ) | $".split(" ")),
    minLength: 1,
  });
  await fc.assert(
    fc.asyncProperty(text, async (glob) => {
      const outcome = await matchesGlob(glob, "a/b").then(
        (matches) => typeof matches,
        (error: unknown) => error instanceof CortexError && error.code,
      );
      expect(["boolean", "pattern_refused"]).toContain(outcome);
    }),
  );
});

test("a glob with many stars and braces is matched", async () => {
  const glob = "*a".repeat(60) + "{a,b}".repeat(60) + "z";
  expect(await matchesGlob(glob, "a".repeat(4000))).toBe(false);
});
