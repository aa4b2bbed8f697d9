/**
 * Replaces texts in a file. It works on bytes: everything else stays as it is, including byte order marks, foreign line
 * endings and binary data.
 */
import { setImmediate } from "node:timers/promises";
import { z } from "zod";

import { count } from "../../model/count.ts";
import { CortexError } from "../../model/errors.ts";
import type { ToolContext } from "../../model/tool.ts";
import { type Label, mayTell, OWNERS } from "../../model/trust.ts";
import { confine, type ConfinedPath } from "./confine.ts";
import { defineFileTool, FILE_TIMEOUT_MS, pathParameter } from "./file-tool.ts";
import { openFile } from "./open-inside.ts";
import { readAtMost } from "./read-bytes.ts";
import { asksToChange, proposeChange, requireAgreement } from "./propose-change.ts";
import { replaceFile } from "./replace-file.ts";

export const MAX_EDITED_BYTES = 10 * 1024 * 1024;
export const MAX_EDITS = 100;

export const editTool = defineFileTool({
  name: "Edit",
  description:
    "Replaces text in a file: all of the edits or, if one is invalid, none. Each oldText must occur exactly once in " +
    "the current file, and edits must not overlap. Include surrounding lines to make an oldText unique.",
  parameters: z.strictObject({
    path: pathParameter,
    edits: z
      .array(
        z.strictObject({
          oldText: z.string().min(1).describe("Exactly as in the file, including indentation"),
          newText: z.string().describe("The replacement"),
        }),
      )
      .min(1)
      .max(MAX_EDITS),
  }),
  writes: true,
  // The file does not show whether "a" → "aa" was already applied.
  repeatable: false,
  timeoutMs: FILE_TIMEOUT_MS,
  // Success reveals what is in the file: enough attempts reveal all of it.
  trust: { untrusted: true, private: true },
  errorTrust: { private: true },
  labels: true,
  async asksForOthers({ path }, context) {
    return asksToChange(await confine(path, context, "write"), context);
  },
  async proposal({ path, edits }, context) {
    const place = await confine(path, context, "write");
    return proposeChange(place, (before) => applyEdits(before, edits, place.shown), context);
  },
  async run({ path, edits }, context) {
    const place = await confine(path, context, "write");
    await requireAgreement(place, context);
    const label = await context.labels?.ofFile(place.path);
    requireReadable(label ?? OWNERS, place, context);
    const original = await readOriginal(place, context.signal);
    const edited = await applyEdits(original, edits, place.shown);
    await replaceFile(place, edited, context);
    const made = count(edits.length, "replacement");
    const result = { text: `Edited ${JSON.stringify(place.shown)}: ${made}.` };
    return label === undefined ? result : { ...result, label };
  },
});

/** Before anything is changed: a result that is withheld would come too late. */
function requireReadable(label: Label, { shown }: ConfinedPath, { confinedTo }: ToolContext): void {
  if (confinedTo === undefined || mayTell(label, confinedTo)) return;
  throw new CortexError("path_forbidden", `${JSON.stringify(shown)} contains other people's data`, {
    hint: `This conversation may only use data of ${confinedTo}.`,
  });
}

async function readOriginal(place: ConfinedPath, signal: AbortSignal): Promise<Buffer> {
  await using handle = await openFile(place);
  const bytes = await readAtMost(handle, MAX_EDITED_BYTES, signal);
  if (bytes !== undefined) return bytes;
  throw new CortexError(
    "tool_failed",
    `${JSON.stringify(place.shown)} is larger than ${MAX_EDITED_BYTES} bytes`,
    { hint: "Edit it with a Bash command." },
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
  /** The index of the edit in the model's call. */
  readonly index: number;
}

/** Rejects with `tool_input_invalid` and all problems. Yields to the event loop between edits. */
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
    const [start] = starts;
    if (start !== undefined && starts.length === 1) {
      replacements.push({ start, end: start + length, bytes: newBytes(original, edit.newText), index });
    } else problems.push(`edits[${index}].oldText occurs ${times(starts.length)}, expected exactly once`);
  }
  replacements.sort((a, b) => a.start - b.start);
  for (const [at, { start, index }] of replacements.entries()) {
    const before = replacements[at - 1];
    if (before !== undefined && start < before.end)
      problems.push(`edits[${before.index}] and edits[${index}] overlap`);
  }
  if (problems.length > 0) throw notEdited(shown, problems.join("; "));

  const edited = splice(original, replacements);
  if (edited.equals(original)) throw notEdited(shown, "the edits have no effect");
  return edited;
}

/** Counting stops at this many occurrences. */
const MAX_COUNTED = 100;

/** Models write \n. If the text is not found, it is searched again with Windows line endings. */
function findText(original: Buffer, text: string): { starts: readonly number[]; length: number } {
  const exact = Buffer.from(text);
  const starts = occurrences(original, exact);
  if (starts.length > 0 || !text.includes("\n")) return { starts, length: exact.length };
  const converted = Buffer.from(withCrlf(text));
  return { starts: occurrences(original, converted), length: converted.length };
}

/** Includes overlapping occurrences, because they are ambiguous, too. */
function occurrences(original: Buffer, wanted: Buffer): number[] {
  const starts: number[] = [];
  let start = original.indexOf(wanted);
  while (start !== -1 && starts.length < MAX_COUNTED) {
    starts.push(start);
    start = original.indexOf(wanted, start + 1);
  }
  return starts;
}

/** With the line endings of the file, as found in its first line. */
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

function notEdited(shown: string, problems: string): CortexError {
  return new CortexError("tool_input_invalid", `${JSON.stringify(shown)} was not changed: ${problems}`, {
    hint: "Read the file, copy each oldText exactly, and add surrounding lines until it is unique.",
  });
}
