/** Truncates long results for the model, and saves the whole text in a file. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";

import type { ToolContext } from "../../model/tool.ts";

/** The limits of one result for the model. Other agents use the same ones, and models know them. */
export const MAX_SHOWN_LINES = 2000;
export const MAX_SHOWN_BYTES = 50 * 1024;

/** File names may have 255 bytes; the rest is for the hash and the extension. */
const MAX_KEY_LENGTH = 100;

/** The beginning of a text, in whole lines if possible. */
export function headOf(text: string): string {
  const lines = text.split("\n", MAX_SHOWN_LINES).join("\n");
  const bytes = Buffer.from(lines);
  if (bytes.length <= MAX_SHOWN_BYTES) return lines;
  const cut = wholeCharacters(bytes.subarray(0, MAX_SHOWN_BYTES)).toString();
  const end = cut.lastIndexOf("\n");
  return end > 0 ? cut.slice(0, end) : cut;
}

/** The end of a text, in whole lines if possible. */
export function tailOf(text: string): string {
  const end = text.endsWith("\n") ? -1 : text.length;
  const lines = text.slice(0, end).split("\n").slice(-MAX_SHOWN_LINES).join("\n");
  const bytes = Buffer.from(lines);
  if (bytes.length <= MAX_SHOWN_BYTES) return lines;
  let start = bytes.length - MAX_SHOWN_BYTES;
  while (isContinuation(bytes[start])) start += 1;
  const cut = bytes.subarray(start).toString();
  return cut.slice(cut.indexOf("\n") + 1);
}

/** Drops an incomplete character at the end. */
export function wholeCharacters(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > 0 && isContinuation(bytes[start])) start -= 1;
  const first = bytes[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}

/** In UTF-8, any byte of a character but the first. */
function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}

type Destination = Pick<ToolContext, "outputFolder" | "callKey">;

/** The text; or, if it is too long, its beginning and the path of a file with the whole text. */
export async function capOutput(text: string, context: Destination): Promise<string> {
  const head = headOf(text);
  if (head.length === text.length) return text;
  const { path, handle } = await openOutput(context);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
  return `${head}\n\n[Truncated. The full text is in ${path}]`;
}

export function outputPath({ outputFolder, callKey }: Destination): string {
  return join(outputFolder, `${safeName(callKey)}.txt`);
}

/** The file for the output of a call. A repeated attempt at the call overwrites it. */
export async function openOutput(
  context: Destination,
): Promise<{ readonly path: string; readonly handle: FileHandle }> {
  const path = outputPath(context);
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  return { path, handle: await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600) };
}

/** A file name for a key. If characters had to be replaced, a hash keeps it unique. */
function safeName(key: string): string {
  const safe = key.replaceAll(/[^\w-]/g, "-").slice(0, MAX_KEY_LENGTH);
  return safe === key && key !== ""
    ? key
    : `${safe}-${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}
