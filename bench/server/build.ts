import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");
const installed = join(import.meta.dirname, "..", ".cache", `built-${process.pid}`);

/** Builds the source as it is now, lays it out as an installed package, and returns the program in it. */
export function buildCortex(): string {
  const program = join(installed, "bin", "cortex.js");
  if (existsSync(program)) return program;
  process.on("exit", () => rmSync(installed, { recursive: true, force: true }));
  mkdirSync(installed, { recursive: true });
  const args = ["--project", "tsconfig.build.json", "--outDir", join(installed, "dist")];
  const { status } = spawnSync(join(root, "node_modules", ".bin", "tsc"), args, {
    cwd: root,
    stdio: ["ignore", 2, "inherit"],
  });
  if (!existsSync(join(installed, "dist", "cli", "main.js"))) throw new Error("The build made no program");
  // The compiler writes its output also where it finds fault with types.
  if (status !== 0)
    process.stderr.write("\nThe build has errors; what is measured is what came of it all the same.\n\n");
  for (const name of ["hooks", "relays", "package.json", "bin"])
    cpSync(join(root, name), join(installed, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(installed, "node_modules"));
  return program;
}
