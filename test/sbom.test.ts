/** The list of what the package depends on, made from the lock file. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { type LockFile, sbomOf } from "../packaging/sbom.ts";

const SHA = `sha512-${Buffer.alloc(64, 1).toString("base64")}`;
const LOCK: LockFile = {
  packages: {
    "": { name: "cortexd", version: "1.0.0", license: "MIT", dependencies: { b: "1", "@s/a": "1" } },
    "node_modules/b": { version: "1.2.0", integrity: SHA, license: "MIT", dependencies: { c: "2" } },
    "node_modules/b/node_modules/c": { version: "2.0.0", integrity: SHA, license: "(MIT OR Apache-2.0)" },
    "node_modules/@s/a": {
      version: "1.0.1",
      integrity: SHA,
      optionalDependencies: { c: "1", missing: "1" },
      peerDependencies: { tool: "1" },
    },
    "node_modules/c": { version: "1.0.0", integrity: SHA, optional: true },
    "node_modules/tool": { version: "1.0.0", integrity: SHA, dev: true },
  },
};

test("every production dependency is listed once, with version, license, hash and what it needs", () => {
  const hashes = [{ alg: "SHA-512", content: "01".repeat(64) }];
  expect(sbomOf(LOCK)).toMatchObject({
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    metadata: { component: { name: "cortexd", version: "1.0.0", purl: "pkg:npm/cortexd@1.0.0" } },
    components: [
      { "bom-ref": "@s/a@1.0.1", name: "@s/a", version: "1.0.1", purl: "pkg:npm/%40s/a@1.0.1", hashes },
      { "bom-ref": "b@1.2.0", licenses: [{ license: { id: "MIT" } }], hashes },
      { "bom-ref": "c@1.0.0", scope: "optional", hashes },
      { "bom-ref": "c@2.0.0", scope: "required", licenses: [{ expression: "(MIT OR Apache-2.0)" }] },
    ],
    dependencies: [
      { ref: "@s/a@1.0.1", dependsOn: ["c@1.0.0"] },
      { ref: "b@1.2.0", dependsOn: ["c@2.0.0"] },
      { ref: "c@1.0.0", dependsOn: [] },
      { ref: "c@2.0.0", dependsOn: [] },
      { ref: "cortexd@1.0.0", dependsOn: ["@s/a@1.0.1", "b@1.2.0"] },
    ],
  });
});

test("of this package, none is missing and each has a hash, and nothing tells of a machine or a time", () => {
  const lock = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")) as LockFile;
  const sbom = sbomOf(lock);
  expect(JSON.stringify(sbomOf(lock))).toBe(JSON.stringify(sbom));
  const { dependencies = {} } = lock.packages[""]!;
  const listed = new Map(sbom.components.map(({ name, version }) => [name, version]));
  for (const [name, version] of Object.entries(dependencies))
    expect([name, listed.get(name)]).toEqual([name, version]);
  expect(sbom.components.filter(({ hashes }) => hashes[0]?.alg !== "SHA-512")).toEqual([]);
  expect(listed.has("vitest")).toBe(false);
  const text = JSON.stringify({ ...sbom, $schema: undefined });
  expect(text).not.toMatch(/https?:\/\/|timestamp|serialNumber|"tools"/);
});
