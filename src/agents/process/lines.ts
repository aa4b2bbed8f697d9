/** The lines that Cortex and a sub-agent exchange. */
import type { Readable, Writable } from "node:stream";

import { CortexError } from "../../model/errors.ts";
import { LineReader } from "../../programs/lines.ts";

/** Very long conversations have a few megabytes. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** Its `next` rejects with `sub_agent_failed`. */
export function readLines(input: Readable, maxBytes: number = MAX_LINE_BYTES): LineReader {
  return new LineReader(input, { maxBytes, unreadable });
}

/** Throws `sub_agent_failed` if the line is too long for the other side. */
export function writeLine(output: Writable, value: object): void {
  const line = `${JSON.stringify(value)}\n`;
  if (Buffer.byteLength(line) - 1 > MAX_LINE_BYTES) throw tooLong(MAX_LINE_BYTES);
  output.write(line);
}

function tooLong(maxBytes: number): CortexError {
  return unreadable(`more than ${maxBytes} bytes`);
}

function unreadable(why: string): CortexError {
  return new CortexError("sub_agent_failed", `Invalid sub-agent protocol line: ${why}`, {
    hint: "Each line must be UTF-8 JSON ending in a line feed; docs/sub-agent-protocol.md lists the limits.",
    transient: why === "incomplete",
  });
}
