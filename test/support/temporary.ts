import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that is gone when the test is. */
export function temporaryFolder(parent: string = tmpdir()): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(parent, "cortex-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Memory where the system offers it: for tests that need many files and say nothing about disks. */
export function memoryParent(): string {
  return existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
}
