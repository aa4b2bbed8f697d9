import { z } from "zod";

import { count } from "../../model/count.ts";
import { CortexError } from "../../model/errors.ts";
import { confine, type Place } from "./confine.ts";
import { defineFileTool, FILE_TIMEOUT_MS, pathParameter } from "./file-tool.ts";
import { openFile } from "./open-inside.ts";
import { headOf, MAX_SHOWN_BYTES, MAX_SHOWN_LINES, wholeCharacters } from "./output.ts";
import { holdsBinary, type LinesFrom, readFromLine } from "./read-bytes.ts";

/** A character more than is shown, so that a text which just fits is told from one that does not. */
const MAX_BYTES_READ = MAX_SHOWN_BYTES + 4;

export const readTool = defineFileTool({
  name: "Read",
  description:
    `Reads a text file. Gives at most ${MAX_SHOWN_LINES} lines or ${MAX_SHOWN_BYTES / 1024} KB; ` +
    "for the rest, call it again with the offset that the result names.",
  parameters: z.strictObject({
    path: pathParameter,
    offset: z.int().min(1).optional().describe("The line to begin with; the first is 1"),
    limit: z.int().min(1).optional().describe("How many lines"),
  }),
  writes: false,
  repeatable: true,
  timeoutMs: FILE_TIMEOUT_MS,
  trust: { untrusted: true, private: true },
  async run({ path, offset = 1, limit = MAX_SHOWN_LINES }, context) {
    const place = await confine(path, context, "read");
    await using handle = await openFile(place);
    if (await holdsBinary(handle)) throw binary(place, (await handle.stat()).size);
    const read = await readFromLine(handle, offset, { maxBytes: MAX_BYTES_READ, signal: context.signal });
    if (read.bytes.length > 0) return { text: describe(read, offset, limit) };
    if (offset > 1) throw pastTheEnd(place, offset, read.lastLine);
    return { text: `[${JSON.stringify(place.shown)} is empty]` };
  },
});

/** The text that is shown, and how to go on where it is cut. */
function describe({ bytes, complete }: LinesFrom, offset: number, limit: number): string {
  const decoded = new TextDecoder().decode(complete ? bytes : wholeCharacters(bytes));
  const text = complete && decoded.endsWith("\n") ? decoded.slice(0, -1) : decoded;
  const shown = headOf(text.split("\n").slice(0, limit).join("\n"));
  if (complete && shown.length === text.length) return shown;

  const next = offset + shown.split("\n").length;
  const isWholeLine = text[shown.length] === "\n";
  const note = isWholeLine
    ? `There is more. Go on with offset ${next}.`
    : `Line ${next - 1} is longer than ${MAX_SHOWN_BYTES / 1024} KB, and this is its beginning. The next line is offset ${next}.`;
  return `${shown}\n\n[${note}]`;
}

function binary({ shown }: Place, size: number): CortexError {
  return new CortexError("tool_failed", `${JSON.stringify(shown)} is a binary file of ${size} bytes`, {
    hint: "Read shows text only. Use a program that knows the format, or Stat.",
  });
}

function pastTheEnd({ shown }: Place, offset: number, lines: number): CortexError {
  const has = count(lines, "line");
  return new CortexError(
    "tool_input_invalid",
    `${JSON.stringify(shown)} has ${has}, so none at offset ${offset}`,
    {
      hint: "Give a smaller offset.",
    },
  );
}
