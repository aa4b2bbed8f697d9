import { rmSync } from "node:fs";
import { join } from "node:path";

import { layOut } from "../../packaging/lay-out.ts";

const installed = join(import.meta.dirname, "..", ".cache", `built-${process.pid}`);
let program: Promise<string> | undefined;

/** Builds the source as it is now, lays it out as an installed package, and returns the program in it. */
export function buildCortex(): Promise<string> {
  if (program === undefined) {
    process.on("exit", () => rmSync(installed, { recursive: true, force: true }));
    program = layOut(installed);
  }
  return program;
}
