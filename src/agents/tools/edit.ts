/**
 * Replaces texts in a file. It works on bytes: whatever is not replaced stays as it is, be it a byte order
 * mark, the line endings of another system or no text at all.
 */
import { setImmediate } from "node:timers/promises";
import { z } from "zod";

import { count } from "../../model/count.ts";
import { CortexError } from "../../model/errors.ts";
import { confine, type Place } from "./confine.ts";
import { defineFileTool, FILE_TIMEOUT_MS, pathParameter } from "./file-tool.ts";
import { openFile } from "./open-inside.ts";
import { readAtMost } from "./read-bytes.ts";
import { replaceFile } from "./replace-file.ts";

export const MAX_EDITED_BYTES = 10 * 1024 * 1024;
export const MAX_EDITS = 100;

export const editTool = defineFileTool({
  name: "Edit",
  description:
    "Replaces texts in a file: all of the edits or, if one does not fit, none. Each oldText must occur exactly " +
    "once in the file as it is now, and no two may overlap. Include lines around it to make it unique.",
  parameters: z.strictObject({
    path: pathParameter,
    edits: z
      .array(
        z.strictObject({
          oldText: z.string().min(1).describe("Exactly as in the file, with its indentation"),
          newText: z.string().describe("What is to be there instead"),
        }),
      )
      .min(1)
      .max(MAX_EDITS),
  }),
  writes: true,
  // Whether "a" → "aa" was done already cannot be seen in the file.
  repeatable: false,
  timeoutMs: FILE_TIMEOUT_MS,
  // Whether it fits tells what is in the file: enough questions find out all of it.
  trust: { private: true },
  async run({ path, edits }, context) {
    const place = await confine(path, context, "write");
    const original = await readOriginal(place, context.signal);
    const edited = await applyEdits(original, edits, place.shown);
    await replaceFile(place, edited, context);
    const made = count(edits.length, "replacement");
    return { text: `Edited ${JSON.stringify(place.shown)}: ${made}.` };
  },
});

async function readOriginal(place: Place, signal: AbortSignal): Promise<Buffer> {
  await using handle = await openFile(place);
  const bytes = await readAtMost(handle, MAX_EDITED_BYTES, signal);
  if (bytes !== undefined) return bytes;
  throw new CortexError(
    "tool_failed",
    `${JSON.stringify(place.shown)} is larger than ${MAX_EDITED_BYTES} bytes`,
    { hint: "Change it with a program, by Bash." },
  );
}

export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
}

interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
  /** Which of the edits, as the model counts them in its call. */
  readonly index: number;
}

/** Rejects with `tool_input_invalid` and everything that does not fit. Others get their turn between two edits. */
export async function applyEdits(
  original: Buffer,
  edits: readonly TextEdit[],
  shown: string,
): Promise<Buffer> {
  const problems: string[] = [];
  const replacements: Replacement[] = [];
  for (const [index, edit] of edits.entries()) {
    if (index > 0) await setImmediate();
    const { starts, length } = findText(original, edit.oldText);
    if (starts.length === 1) {
      const start = starts[0]!;
      replacements.push({ start, end: start + length, bytes: newBytes(original, edit.newText), index });
    } else problems.push(`edits[${index}].oldText occurs ${times(starts.length)} and must occur once`);
  }
  replacements.sort((a, b) => a.start - b.start);
  for (const [at, { start, index }] of replacements.entries()) {
    const before = replacements[at - 1];
    if (before !== undefined && start < before.end)
      problems.push(`edits[${before.index}] and edits[${index}] overlap`);
  }
  if (problems.length > 0) throw doesNotFit(shown, problems.join("; "));

  const edited = splice(original, replacements);
  if (edited.equals(original)) throw doesNotFit(shown, "the edits change nothing");
  return edited;
}

/** How many occurrences are counted before it is clear that there are too many. */
const MAX_COUNTED = 100;

/** Models write \n. Where that is not found, the text is looked for with the line endings of Windows. */
function findText(original: Buffer, text: string): { starts: readonly number[]; length: number } {
  const exact = Buffer.from(text);
  const starts = occurrences(original, exact);
  if (starts.length > 0 || !text.includes("\n")) return { starts, length: exact.length };
  const converted = Buffer.from(withCrlf(text));
  return { starts: occurrences(original, converted), length: converted.length };
}

/** Overlapping ones too: of those it is not clear which is meant. */
function occurrences(original: Buffer, wanted: Buffer): number[] {
  const starts: number[] = [];
  let start = original.indexOf(wanted);
  while (start !== -1 && starts.length < MAX_COUNTED) {
    starts.push(start);
    start = original.indexOf(wanted, start + 1);
  }
  return starts;
}

/** With the line endings of the file, which are those of its first line. */
function newBytes(original: Buffer, text: string): Buffer {
  const isCrlf = original[original.indexOf("\n") - 1] === 0x0d;
  return Buffer.from(isCrlf ? withCrlf(text) : text);
}

function withCrlf(text: string): string {
  return text.replaceAll(/\r?\n/g, "\r\n");
}

function splice(original: Buffer, replacements: readonly Replacement[]): Buffer {
  const parts: Buffer[] = [];
  let end = 0;
  for (const replacement of replacements) {
    parts.push(original.subarray(end, replacement.start), replacement.bytes);
    end = replacement.end;
  }
  return Buffer.concat([...parts, original.subarray(end)]);
}

function times(found: number): string {
  if (found === 1) return "once";
  return found === MAX_COUNTED ? `${found} times or more` : `${found} times`;
}

function doesNotFit(shown: string, problems: string): CortexError {
  return new CortexError("tool_input_invalid", `${JSON.stringify(shown)} was not changed: ${problems}`, {
    hint: "Read the file, copy each oldText exactly, and add lines around it until it is unique.",
  });
}
