/**
 * What a server says, in a file of its home. It is bounded: when the file is full it is put aside as
 * `cortex.log.1`, what was that becomes `cortex.log.2`, and the oldest goes.
 */
import { mkdirSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { appendPrivate } from "../model/private-file.ts";
import { logFolder } from "../config/home.ts";

const MAX_LOG_BYTES = 5 * 1_024 ** 2;
/** Beside the one that is being written. */
export const KEPT_LOGS = 4;

export function logPath(home: string): string {
  return join(logFolder(home), "cortex.log");
}

/** A function that adds a line with its time. It never throws: work does not end because nobody can read of it. */
export function openLog(
  path: string,
  { clock, maxBytes = MAX_LOG_BYTES }: { clock: () => number; maxBytes?: number },
): (line: string) => void {
  let bytes: number | undefined;
  return (line) => {
    const entry = `${new Date(clock()).toISOString()} ${line.replaceAll("\n", "\n  ")}\n`;
    const length = Buffer.byteLength(entry);
    try {
      bytes ??= prepare(path);
      if (bytes > 0 && bytes + length > maxBytes) {
        putAside(path);
        bytes = 0;
      }
      appendPrivate(path, entry);
      bytes += length;
    } catch {
      bytes = undefined; // a full disk, say; the same line went to standard error
    }
  };
}

/** How much is there already. */
function prepare(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function putAside(path: string): void {
  for (let number = KEPT_LOGS; number > 0; number--) {
    const from = number === 1 ? path : `${path}.${number - 1}`;
    if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${path}.${number}`);
  }
}
