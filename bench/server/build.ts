import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");
const program = join(root, "dist", "cli", "main.js");

/** Makes `dist/` of the source as it is now, and returns the program in it. */
export function buildCortex(): string {
  const { status } = spawnSync("npm", ["run", "--silent", "build"], {
    cwd: root,
    stdio: ["ignore", 2, "inherit"],
  });
  if (!existsSync(program)) throw new Error("`npm run build` made no dist/cli/main.js");
  // The compiler writes its output also where it finds fault with types.
  if (status !== 0)
    process.stderr.write("\nThe build has errors; what is measured is what came of it all the same.\n\n");
  return program;
}
