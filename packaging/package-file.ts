/** What `package.json` says about the program. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..");

interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

const { dependencies, exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as PackageFile;

export const PACKAGES = Object.keys(dependencies);

/** What other programs may import: `index`, `hooks/hook`. */
export const PUBLIC_MODULES = Object.values(exports).flatMap((target) =>
  typeof target === "string" ? [] : [target.default.slice("./dist/".length, -".js".length)],
);

/** Whether an import is that of a package or of a file in it. */
export function isPartOf(name: string, id: string): boolean {
  return id === name || id.startsWith(`${name}/`);
}
