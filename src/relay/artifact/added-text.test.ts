import * as fc from "fast-check";
import { expect, test } from "vitest";

import { addedText } from "./added-text.ts";

test("what is appended was added", async () => {
  await expect(addedText("one\n", "one\ntwo\n")).resolves.toBe("two\n");
  await expect(addedText("", "one")).resolves.toBe("one");
  await expect(addedText("on", "one")).resolves.toBe("e");
});

test("of an edit the lines that are new were added", async () => {
  await expect(addedText("one\ntwo\nthree\n", "one\n2\nthree\n")).resolves.toBe("2");
});

test("a line that was moved was not added", async () => {
  await expect(addedText("one\ntwo\n", "two\none\n")).resolves.toBe("");
});

test("a line that was there once and is there twice was added", async () => {
  await expect(addedText("[DONE]\nold\n", "new\n[DONE]\n[DONE]\n")).resolves.toBe("new\n[DONE]");
});

test("nothing is added by leaving a text as it is or taking from it", async () => {
  const line = fc.stringMatching(/^[ab]{0,3}$/);
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.nat(), async (lines, at) => {
      await expect(addedText(lines.join("\n"), lines.join("\n"))).resolves.toBe("");
      const fewer = lines.filter((_, index) => index !== at % Math.max(1, lines.length));
      expect((await addedText(lines.join("\n"), fewer.join("\n"))).trim()).toBe("");
    }),
  );
});

test("whatever a step appends is found in what it added", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), async (before, appended) => {
      await expect(addedText(before, before + appended)).resolves.toBe(appended);
    }),
  );
});
