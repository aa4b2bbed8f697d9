/**
 * The seal of a backup: the SHA-256 of the whole file, appended to it. A changed byte anywhere is noticed. SQLite reads
 * only whole pages, so the database in the file is not affected.
 */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";

const SEAL_BYTES = 32;
const CHUNK_BYTES = 1024 * 1024;

/** For a database that no process has open. */
export function sealFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    const { size } = fstatSync(file);
    writeSync(file, hashOf(file, size), 0, SEAL_BYTES, size);
  } finally {
    closeSync(file);
  }
}

/** Whether a file with pages of this size is unchanged since it was sealed. Undefined: it has no seal. */
export function checkSeal(path: string, pageSize: number): boolean | undefined {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    if (size % pageSize === 0) return undefined;
    const end = Math.max(size - SEAL_BYTES, 0);
    const seal = Buffer.alloc(SEAL_BYTES);
    readSync(file, seal, 0, SEAL_BYTES, end);
    return seal.equals(hashOf(file, end));
  } finally {
    closeSync(file);
  }
}

function hashOf(file: number, end: number): Buffer {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, end));
  for (let at = 0; at < end;) {
    const bytes = readSync(file, chunk, 0, Math.min(chunk.length, end - at), at);
    if (bytes === 0) break; // the file was truncated meanwhile
    hash.update(chunk.subarray(0, bytes));
    at += bytes;
  }
  return hash.digest();
}
