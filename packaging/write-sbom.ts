/** `npm run sbom`: writes `dist/sbom.json`, which `npm pack` puts into the package. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

import { type LockFile, sbomOf } from "./sbom.ts";

const text = readFileSync(new URL("../package-lock.json", import.meta.url), "utf8");
const folder = new URL("../dist/", import.meta.url);
mkdirSync(folder, { recursive: true });
const sbom = sbomOf(JSON.parse(text) as LockFile);
writeFileSync(new URL("sbom.json", folder), `${JSON.stringify(sbom, null, 1)}\n`);
