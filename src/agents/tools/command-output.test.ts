import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { testWorkspace } from "../../../test/support/tool-context.ts";
import { CommandOutput } from "./command-output.ts";
import { MAX_SHOWN_BYTES } from "./output.ts";

test("however the output is cut into pieces, the file has all of it and the text its end", async () => {
  using files = testWorkspace();
  const sizes = fc.array(fc.integer({ min: 0, max: 70_000 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(sizes, async (sizes) => {
      await using output = new CommandOutput(files.context, 10_000_000);
      const pieces = sizes.map((size, index) => Buffer.alloc(size, 97 + index));
      for (const piece of pieces) await output.append(piece);
      const all = Buffer.concat(pieces);
      const { text, bytes, file, flaw } = await output.finish();

      expect(text).toBe(all.subarray(-MAX_SHOWN_BYTES).toString());
      expect(bytes).toBe(all.length);
      expect(file !== undefined).toBe(all.length > MAX_SHOWN_BYTES);
      expect(flaw).toBeUndefined();
      expect(file === undefined || readFileSync(file).equals(all)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test("of more than the file may hold, the beginning is kept", async () => {
  using files = testWorkspace();
  await using output = new CommandOutput(files.context, MAX_SHOWN_BYTES + 10);
  for (const letter of ["a", "b", "c"]) await output.append(Buffer.alloc(MAX_SHOWN_BYTES, letter));
  const { file, flaw } = await output.finish();

  expect(readFileSync(file!, "utf8")).toBe("a".repeat(MAX_SHOWN_BYTES) + "b".repeat(10));
  expect(flaw).toBe(`Only the first ${MAX_SHOWN_BYTES + 10} bytes were saved`);
});

test("the end of an output begins with a whole character", async () => {
  using files = testWorkspace();
  await using output = new CommandOutput(files.context, 10_000_000);
  await output.append(Buffer.from(`${"😀".repeat(MAX_SHOWN_BYTES / 4)}x`));
  expect((await output.finish()).text).toBe(`${"😀".repeat(MAX_SHOWN_BYTES / 4 - 1)}x`);
});
