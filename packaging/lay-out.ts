/** Builds the program and lays it out as an installed package, for benchmarks and tests. */
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { bundle } from "./bundle.ts";
import { ROOT } from "./package-file.ts";

/** Returns the program in the folder. */
export async function layOut(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  await bundle(join(folder, "dist"));
  for (const name of ["hooks", "relays", "package.json", "bin"])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return join(folder, "bin", "cortex.js");
}
