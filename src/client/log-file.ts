/**
 * The server's log file, rotated when full: `cortex.log` becomes `cortex.log.1`, that one `cortex.log.2`, and the oldest
 * is deleted.
 */
import { mkdirSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { appendPrivate } from "../model/private-file.ts";
import { logFolder } from "../config/home.ts";

const MAX_LOG_BYTES = 5 * 1_024 ** 2;
/** Rotated files, without the current one. */
export const KEPT_LOGS = 4;

export function logPath(home: string): string {
  return join(logFolder(home), "cortex.log");
}

/** Returns a function that appends a timestamped line. It never throws: a full disk must not stop the server. */
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
        rotate(path);
        bytes = 0;
      }
      appendPrivate(path, entry);
      bytes += length;
    } catch {
      bytes = undefined; // a full disk, for example; the line was also written to standard error
    }
  };
}

/** Returns the current size of the file. */
function prepare(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function rotate(path: string): void {
  for (let number = KEPT_LOGS; number > 0; number--) {
    const from = number === 1 ? path : `${path}.${number - 1}`;
    if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${path}.${number}`);
  }
}
