/** The lock file as `npm ci` on another machine needs it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { bytesBelow } from "./support/temporary.ts";

/** What an installation may bring along, beside Cortex itself. Raise a limit only together with what needs it. */
const MAX_PRODUCTION_PACKAGES = 118;
const MAX_INSTALLED_BYTES = 120_000_000;

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Locked {
  readonly resolved?: string;
  readonly gypfile?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
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
  expect(names.size).toBeGreaterThan(100);
  expect(missing).toEqual([]);
});

test("no registry is named", () => {
  expect(packages).toHaveProperty(["node_modules/better-sqlite3"]);
  expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});

// npm would run node-gyp for a package with a binding.gyp unless it says otherwise, and npm does not copy
// that word of better-sqlite3's into the lock file. Its binaries are in the package.
test("better-sqlite3 is not compiled", () => {
  expect(packages["node_modules/better-sqlite3"]!.gypfile).toBe(false);
});

test("an installation for production is small, in packages and in bytes", () => {
  const production = Object.entries(packages).flatMap(([path, { dev = false, devOptional = false }]) =>
    path === "" || dev || devOptional ? [] : [path],
  );
  expect(production).toContain("node_modules/better-sqlite3");
  expect(production).not.toContain("node_modules/vitest");
  expect(production.length).toBeLessThanOrEqual(MAX_PRODUCTION_PACKAGES);
  const bytes = production.reduce((sum, path) => sum + bytesBelow(join(ROOT, path), "node_modules"), 0);
  expect(bytes).toBeGreaterThan(10_000_000); // they are there to be measured
  expect(bytes).toBeLessThan(MAX_INSTALLED_BYTES);
});
