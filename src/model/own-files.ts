/**
 * Where the files of Cortex are. No other module may ask for its own address: in the package, the modules of `src/` are
 * bundled into a few files (`packaging/bundle.ts`), so their addresses there say nothing.
 */

/** `src/model/`, as well as `dist/chunks/` in the package, is two folders below the root. */
const ROOT = new URL("../../", import.meta.url);
const IS_SOURCE = import.meta.url.endsWith(".ts");

/** A file or folder at the same path in a checkout and in the package: `hooks`, `package.json`. */
export function ownFile(path: string): URL {
  return new URL(path, ROOT);
}

/**
 * A module that is not imported, but started or handed to others by its path: `store/sqlite/writer-thread`.
 * `MODULES` in `packaging/bundle.ts` lists them all.
 */
export function ownModule(path: string): URL {
  return ownFile(IS_SOURCE ? `src/${path}.ts` : `dist/${path}.js`);
}

/** The types of such a module. */
export function ownTypes(path: string): URL {
  return ownFile(IS_SOURCE ? `src/${path}.ts` : `dist/${path}.d.ts`);
}
