import { PassThrough, Readable } from "node:stream";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { LineReader } from "../../programs/lines.ts";
import { MAX_LINE_BYTES, readLines, writeLine } from "./lines.ts";

async function allOf(reader: LineReader): Promise<string[]> {
  const lines: string[] = [];
  for (let line = await reader.next(); line !== undefined; line = await reader.next()) lines.push(line);
  return lines;
}

function inPieces(bytes: Buffer, size: number): Readable {
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  return Readable.from(pieces, { objectMode: false });
}

test("lines are the same in whatever pieces they come", async () => {
  const value = fc.record({ text: fc.string({ unit: "binary" }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(value, { maxLength: 5 }),
      fc.integer({ min: 1, max: 9 }),
      async (values, size) => {
        const bytes = Buffer.from(values.map((each) => `${JSON.stringify(each)}\n`).join(""));
        const lines = await allOf(readLines(inPieces(bytes, size)));
        expect(lines).toEqual(values.map((each) => JSON.stringify(each)));
      },
    ),
  );
});

test("a line has a longest length, and one that is longer is not waited for", async () => {
  const endless = new PassThrough();
  endless.write("1234\n");
  endless.write("12345");
  const reader = readLines(endless, 4);
  expect(await reader.next()).toBe("1234");
  await expect(reader.next()).rejects.toMatchObject({ code: "sub_agent_failed" });
});

test("a line that is too long for the other side is not sent", () => {
  const output = new PassThrough();
  expect(() => writeLine(output, { text: "x".repeat(MAX_LINE_BYTES) })).toThrow("bytes");
  expect(output.readableLength).toBe(0);
});

test("whoever writes faster than is read has to wait", async () => {
  let written = 0;
  const input = new Readable({
    highWaterMark: 1,
    read() {
      written++;
      this.push("line\n");
    },
  });
  const reader = readLines(input);
  await reader.next();
  await reader.next();
  expect(written).toBeLessThan(10);
});
