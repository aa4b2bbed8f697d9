import { z } from "zod";

import { count } from "../../model/count.ts";
import { CortexError } from "../../model/errors.ts";
import { confine, type ConfinedPath } from "./confine.ts";
import { defineFileTool, FILE_TIMEOUT_MS, labelled, pathParameter } from "./file-tool.ts";
import { openFile } from "./open-inside.ts";
import { headOf, MAX_SHOWN_BYTES, MAX_SHOWN_LINES, wholeCharacters } from "./output.ts";
import { holdsBinary, type LinesFrom, readFromLine } from "./read-bytes.ts";

/** One character more than is shown, to tell a text that just fits from one that does not. */
const MAX_BYTES_READ = MAX_SHOWN_BYTES + 4;

export const readTool = defineFileTool({
  name: "Read",
  description:
    `Reads a text file. Returns at most ${MAX_SHOWN_LINES} lines or ${MAX_SHOWN_BYTES / 1024} KB; ` +
    "for the rest, call it again with the offset given in the result.",
  parameters: z.strictObject({
    path: pathParameter,
    offset: z.int().min(1).optional().describe("The first line to read (default: 1)"),
    limit: z.int().min(1).optional().describe("Number of lines"),
  }),
  writes: false,
  repeatable: true,
  timeoutMs: FILE_TIMEOUT_MS,
  trust: { untrusted: true, private: true },
  errorTrust: { private: true },
  labels: true,
  async run({ path, offset = 1, limit = MAX_SHOWN_LINES }, context) {
    const place = await confine(path, context, "read");
    return labelled(
      () => context.labels?.ofFile(place.path),
      async () => {
        await using handle = await openFile(place);
        if (await holdsBinary(handle)) throw binary(place, (await handle.stat()).size);
        const read = await readFromLine(handle, offset, { maxBytes: MAX_BYTES_READ, signal: context.signal });
        if (read.bytes.length === 0 && offset > 1) throw pastTheEnd(place, offset, read.lastLine);
        const isEmpty = read.bytes.length === 0;
        return {
          text: isEmpty ? `[${JSON.stringify(place.shown)} is empty]` : describe(read, offset, limit),
        };
      },
    );
  },
});

/** The text to show and, if it is truncated, how to continue. */
function describe({ bytes, complete }: LinesFrom, offset: number, limit: number): string {
  const decoded = new TextDecoder().decode(complete ? bytes : wholeCharacters(bytes));
  const text = complete && decoded.endsWith("\n") ? decoded.slice(0, -1) : decoded;
  const shown = headOf(text.split("\n").slice(0, limit).join("\n"));
  if (complete && shown.length === text.length) return shown;

  const next = offset + shown.split("\n").length;
  const isWholeLine = text[shown.length] === "\n";
  const note = isWholeLine
    ? `Truncated. Continue with offset ${next}.`
    : `Line ${next - 1} is longer than ${MAX_SHOWN_BYTES / 1024} KB; only its beginning is shown. The next line has offset ${next}.`;
  return `${shown}\n\n[${note}]`;
}

function binary({ shown }: ConfinedPath, size: number): CortexError {
  return new CortexError("tool_failed", `${JSON.stringify(shown)} is a binary file of ${size} bytes`, {
    hint: "Read supports only text. Use a program for this format, or Stat.",
  });
}

function pastTheEnd({ shown }: ConfinedPath, offset: number, lines: number): CortexError {
  const has = count(lines, "line");
  return new CortexError(
    "tool_input_invalid",
    `Offset ${offset} is past the end of ${JSON.stringify(shown)} (${has})`,
    {
      hint: "Use a smaller offset.",
    },
  );
}
