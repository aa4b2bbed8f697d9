/**
 * Resolves the imports of hooks, in the process that runs them.
 *
 * `better-sqlite3` and `cortexd/hooks` are ours. Other packages are resolved from the hook's file, which finds those of the
 * home, and then from the program. Files in the folder are always ES modules, regardless of a `package.json`, because npm
 * writes `"type": "commonjs"` into new ones.
 */
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const here = import.meta.url;
const ending = here.endsWith(".ts") ? "ts" : "js";

export const OURS: Readonly<Record<string, string>> = {
  "better-sqlite3": new URL(`read-only-database.${ending}`, here).href,
  "cortexd/hooks": new URL(`../hook.${ending}`, here).href,
};

export function resolveImportsIn(folder: string): void {
  const root = `${pathToFileURL(folder).href}/`;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (context.parentURL === undefined || !context.parentURL.startsWith(root)) {
        return specifier.startsWith(root)
          ? asModule(nextResolve(specifier, context))
          : nextResolve(specifier, context);
      }
      const ours = OURS[specifier];
      if (ours !== undefined) return nextResolve(ours, { ...context, parentURL: here });
      try {
        return asModule(nextResolve(specifier, context));
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
