/** `npm run docs` writes the generated pages; with `--site <folder>`, it also builds a site from all pages. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { DOCS, generatePages } from "./generate.ts";
import { writeSite } from "./site.ts";

const { site } = parseArgs({ options: { site: { type: "string" } } }).values;
for (const [file, text] of await generatePages()) {
  const path = join(DOCS, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
if (site !== undefined) {
  const folder = resolve(site);
  writeSite(folder);
  console.log(`Open ${join(folder, "index.html")}.`);
}
