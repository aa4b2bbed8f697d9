/** Writes the types of what other programs may import, and of what these types refer to. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { PUBLIC_MODULES, ROOT } from "./package-file.ts";

export function writeDeclarations(folder: string): void {
  const all = mkdtempSync(join(tmpdir(), "cortex-declarations-"));
  try {
    const args = ["--project", "tsconfig.build.json", "--outDir", all];
    execFileSync(join(ROOT, "node_modules/.bin/tsc"), args, { cwd: ROOT, stdio: ["ignore", 2, "inherit"] });
    const needed = new Set(PUBLIC_MODULES.map((name) => `${name}.d.ts`));
    for (const file of needed) {
      for (const path of importsOf(join(all, file))) needed.add(join(dirname(file), path)); // the loop also visits these
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      copyFileSync(join(all, file), join(folder, file));
    }
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}

function importsOf(file: string): readonly string[] {
  const paths = readFileSync(file, "utf8").matchAll(/"(\.{1,2}\/[^"]+)\.ts"/g);
  return Array.from(paths, ([, path]) => `${path}.d.ts`);
}
