/** What a model is shown of a long text, and where the whole of it is kept. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";

import type { ToolContext } from "../../model/tool.ts";

/** As much as a model gets of one result. Other agents use the same two limits, and models know them. */
export const MAX_SHOWN_LINES = 2000;
export const MAX_SHOWN_BYTES = 50 * 1024;

/** Names of files may have 255 bytes; the rest is for the hash and the ending. */
const MAX_KEY_LENGTH = 100;

/** The beginning of a text, in whole lines where that is possible. */
export function headOf(text: string): string {
  const lines = text.split("\n", MAX_SHOWN_LINES).join("\n");
  const bytes = Buffer.from(lines);
  if (bytes.length <= MAX_SHOWN_BYTES) return lines;
  const cut = wholeCharacters(bytes.subarray(0, MAX_SHOWN_BYTES)).toString();
  const end = cut.lastIndexOf("\n");
  return end > 0 ? cut.slice(0, end) : cut;
}

/** The end of a text, in whole lines where that is possible. */
export function tailOf(text: string): string {
  const end = text.endsWith("\n") ? -1 : text.length;
  const lines = text.slice(0, end).split("\n").slice(-MAX_SHOWN_LINES).join("\n");
  const bytes = Buffer.from(lines);
  if (bytes.length <= MAX_SHOWN_BYTES) return lines;
  let start = bytes.length - MAX_SHOWN_BYTES;
  while (isContinuation(bytes[start]!)) start += 1;
  const cut = bytes.subarray(start).toString();
  return cut.slice(cut.indexOf("\n") + 1);
}

/** Without the beginning of a character whose rest was cut off. */
export function wholeCharacters(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > 0 && isContinuation(bytes[start]!)) start -= 1;
  const first = bytes[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}

/** In UTF-8, a byte that is not the first of its character. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

type Destination = Pick<ToolContext, "outputFolder" | "callKey">;

/** The text, or its beginning and the path of the file that holds all of it. */
export async function capOutput(text: string, context: Destination): Promise<string> {
  const head = headOf(text);
  if (head.length === text.length) return text;
  const { path, handle } = await openOutput(context);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
  return `${head}\n\n[This is the beginning. All of it is in ${path}]`;
}

/** The file for the output of a call. Another attempt at the same call begins it anew. */
export async function openOutput(
  context: Destination,
): Promise<{ readonly path: string; readonly handle: FileHandle }> {
  const path = join(context.outputFolder, `${safeName(context.callKey)}.txt`);
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  return { path, handle: await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600) };
}

/** A key as the name of a file. Two keys never share a name: where one is changed, its hash is added. */
function safeName(key: string): string {
  const safe = key.replaceAll(/[^\w-]/g, "-").slice(0, MAX_KEY_LENGTH);
  return safe === key && key !== ""
    ? key
    : `${safe}-${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}
