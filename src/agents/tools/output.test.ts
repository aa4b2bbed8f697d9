import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { testWorkspace } from "../../../test/support/tool-context.ts";
import { capOutput, headOf, MAX_SHOWN_BYTES, MAX_SHOWN_LINES, tailOf, wholeCharacters } from "./output.ts";

const numbers = Array.from({ length: MAX_SHOWN_LINES + 1 }, (_, index) => `${index + 1}`);

test("a short text is shown as it is", async () => {
  using files = testWorkspace();
  expect(await capOutput("a\nb", files.context)).toBe("a\nb");
  expect(readdirSync(files.context.outputFolder)).toEqual([]);
});

test("a long text is cut and kept in a file that is named for the call", async () => {
  using files = testWorkspace();
  const text = numbers.join("\n");
  const path = join(files.context.outputFolder, "turn-1-0.txt");

  expect(await capOutput(text, files.context)).toBe(
    `${numbers.slice(0, -1).join("\n")}\n\n[Truncated. The full text is in ${path}]`,
  );
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("a call key cannot lead out of the output folder, and two keys never share a file", async () => {
  using files = testWorkspace();
  const text = "x\n".repeat(MAX_SHOWN_LINES + 1);
  const keys = [
    "../../outside/x",
    "..-..-outside-x",
    "",
    "a/b",
    "a\0b",
    "a:b",
    "k".repeat(300),
    "k".repeat(301),
  ];
  for (const callKey of keys) await capOutput(text, { ...files.context, callKey });

  expect(readdirSync(files.context.outputFolder)).toHaveLength(keys.length);
});

test("output is not written through a link", async () => {
  using files = testWorkspace();
  const victim = join(files.outside, "victim");
  writeFileSync(victim, "kept");
  symlinkSync(victim, join(files.context.outputFolder, "turn-1-0.txt"));

  await expect(capOutput("x\n".repeat(3000), files.context)).rejects.toMatchObject({ code: "ELOOP" });
  expect(readFileSync(victim, "utf8")).toBe("kept");
});

test("the head and the tail are whole lines", () => {
  expect(headOf(numbers.join("\n"))).toBe(numbers.slice(0, -1).join("\n"));
  expect(tailOf(numbers.join("\n"))).toBe(numbers.slice(1).join("\n"));
  const wide = ["a", "b", "c"].map((letter) => letter.repeat(MAX_SHOWN_BYTES / 2 - 1));
  expect(headOf(wide.join("\n"))).toBe(wide.slice(0, 2).join("\n"));
  expect(tailOf(wide.join("\n"))).toBe(wide.slice(1).join("\n"));
});

test("no cut goes through a character, and nothing is longer than the limit", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.boolean(), (piece, inLines) => {
      const line = inLines ? `${piece}\n` : piece;
      const text = line.repeat(60_000 / line.length).toWellFormed();
      for (const cut of [headOf(text), tailOf(text)]) {
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(MAX_SHOWN_BYTES);
        expect(cut.split("\n").length).toBeLessThanOrEqual(MAX_SHOWN_LINES);
      }
      expect(text.startsWith(headOf(text))).toBe(true);
      expect(text.replace(/\n$/, "").endsWith(tailOf(text))).toBe(true);
    }),
    { numRuns: 20 },
  );
});

test("a character that is cut off is left out", () => {
  for (const character of ["é", "€", "😀"]) {
    const bytes = Buffer.from(`a${character}`);
    expect(wholeCharacters(bytes).toString()).toBe(`a${character}`);
    for (let end = 1; end < bytes.length; end += 1) {
      expect(wholeCharacters(bytes.subarray(0, end)).toString()).toBe("a");
    }
  }
});
