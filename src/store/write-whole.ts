import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Writes a file so that it is there as a whole or not at all. Where that fails, nothing is left beside it. */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
  options: { readonly mode?: number; readonly flush?: boolean } = {},
): Promise<void> {
  const beside = join(dirname(path), `.${basename(path)}-${randomUUID()}`);
  try {
    await writeFile(beside, content, { ...options, flag: "wx" });
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}
