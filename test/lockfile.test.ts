/** The lock file as `npm ci` on another machine needs it. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Locked {
  readonly resolved?: string;
  readonly gypfile?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")) as {
  packages: Readonly<Record<string, Locked>>;
};

test("the parts for other platforms are locked too, or npm ci refuses the lock file", () => {
  const names = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
  const missing = Object.values(packages).flatMap(({ dependencies, optionalDependencies }) =>
    Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !names.has(name)),
  );
  expect(missing).toEqual([]);
});

test("no registry is named", () => {
  expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});

// npm would run node-gyp for a package with a binding.gyp unless it says otherwise, and npm does not copy
// that word of better-sqlite3's into the lock file. Its binaries are in the package.
test("better-sqlite3 is not compiled", () => {
  expect(packages["node_modules/better-sqlite3"]!.gypfile).toBe(false);
});
