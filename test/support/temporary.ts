import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that is gone when the test is. */
export function temporaryFolder(parent: string = tmpdir()): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(parent, "cortex-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const MEMORY = "/dev/shm";
/** Containers have little of it, unless they are told to have more. */
const ENOUGH_BYTES = 2 ** 30;

/** Memory where the system offers it: for tests that need many files and say nothing about disks. */
export function memoryParent(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > ENOUGH_BYTES ? MEMORY : tmpdir();
}

/** The size of all files in a folder, without those in folders of the given name. */
export function bytesBelow(folder: string, except?: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === except ? sum : sum + bytesBelow(path, except);
    return sum + lstatSync(path).size;
  }, 0);
}
