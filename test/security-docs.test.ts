import { existsSync } from "node:fs";

import { expect, test } from "vitest";

import { readPage } from "./support/docs.ts";

const page = readPage("docs/security.md");

test("every threat in docs/security.md names tests, and they are there", () => {
  const [table] = /^\| threat .+\n(?:\|.+\n)+/m.exec(page)!;
  const rows = [...table.matchAll(/^\| (.+?) +\| .+ \| (.+?) +\|$/gm)].map(
    ([, threat, tests]) => [threat!, tests!] as const,
  );
  const threats = rows.filter(([threat]) => !/^(threat|-+)$/.test(threat));
  expect(threats.length).toBeGreaterThan(20);
  const named = threats.map(([threat, tests]) => ({
    threat,
    files: Array.from(tests.matchAll(/`([^`]+)`/g), ([, file]) => file!),
  }));
  const isThere = (file: string): boolean => existsSync(new URL(`../${file}`, import.meta.url));
  expect(named.filter(({ files }) => files.length === 0 || !files.every(isThere))).toEqual([]);
});
