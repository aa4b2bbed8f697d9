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
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
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

test("every package is pinned by version and SHA-512, and none comes from git or an address", () => {
  const installed = Object.entries(packages).filter(([path]) => path !== "");
  const unpinned = installed.filter(
    ([, { version = "", integrity = "", link }]) =>
      !/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(version) ||
      !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity) ||
      link !== undefined,
  );
  expect(unpinned).toEqual([]);
  const wanted = Object.values(packages).flatMap(({ dependencies, optionalDependencies }) =>
    Object.values({ ...dependencies, ...optionalDependencies }),
  );
  expect(wanted.length).toBeGreaterThan(100);
  // A registry's version is a range or another name; everything else has a slash or a colon.
  expect(wanted.filter((range) => /[/:]/.test(range.replace(/^npm:(?:@[\w.-]+\/)?/, "")))).toEqual([]);
});

// npm 11 runs scripts that it has no decision on; test/install-scripts.long.test.ts sees that it keeps to ours.
test("of all install scripts, only that of node is allowed to run, and each of the others is denied", () => {
  const { allowScripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    allowScripts: Readonly<Record<string, boolean>>;
  };
  const withScripts = Object.entries(packages)
    .filter(([, { hasInstallScript, gypfile }]) => hasInstallScript === true || gypfile !== undefined)
    .map(([path]) => path.split("node_modules/").at(-1)!);
  expect(withScripts).toContain("protobufjs");
  expect(Object.fromEntries(withScripts.map((name) => [name, name === "node"]))).toEqual(allowScripts);
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
