/**
 * Resolves the imports of hooks, in the process that runs them.
 *
 * `better-sqlite3` and `cortexd/hooks` are ours. Other packages are resolved from the hook's file, which finds those of the
 * home, and then from the program. Files in the folder are always ES modules, regardless of a `package.json`, because npm
 * writes `"type": "commonjs"` into new ones.
 *
 * A file that an agent wrote is imported by no other: a person enables one file, and reads only that one.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { ownModule } from "../../model/own-files.ts";
import { parseHeader } from "../folder/parse-header.ts";

const here = import.meta.url;

export const OURS: Readonly<Record<string, string>> = {
  "better-sqlite3": ownModule("hooks/run/read-only-database").href,
  "cortexd/hooks": ownModule("hooks/hook").href,
};

export function resolveImportsIn(folder: string): void {
  // Resolved paths have no links in them, which the folder may be.
  const root = `${pathToFileURL(existsSync(folder) ? realpathSync(folder) : folder).href}/`;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (context.parentURL?.startsWith(root) !== true) return asModule(nextResolve(specifier, context));
      const ours = OURS[specifier];
      if (ours !== undefined) return nextResolve(ours, { ...context, parentURL: here });
      try {
        const resolved = asModule(nextResolve(specifier, context));
        if (resolved.url.startsWith(root)) refuseImport(fileURLToPath(resolved.url));
        return resolved;
      } catch (error) {
        if (/^[./]|^[a-z]+:/.test(specifier)) throw error;
        try {
          return nextResolve(specifier, { ...context, parentURL: here });
        } catch {
          throw error; // this error names the hook's file
        }
      }
    },
  });

  function asModule<Resolved extends { readonly url: string }>(resolved: Resolved): Resolved {
    const path = resolved.url.replace(/\?.*$/s, "");
    if (!path.startsWith(root) || path.includes("/node_modules/")) return resolved;
    if (/\.m?ts$/.test(path)) return { ...resolved, format: "module-typescript" };
    return /\.m?js$/.test(path) ? { ...resolved, format: "module" } : resolved;
  }
}

/** Throws for a file that an agent wrote. */
export function refuseImport(path: string): void {
  if (parseHeader(readFileSync(path, "utf8")).origin !== "agent") return;
  throw new Error(
    `Cannot import ${basename(path)}: an agent wrote it, and only this file was reviewed. ` +
      "Copy its code into this hook, or review it and remove `@origin agent` from its header",
  );
}
