/** `npm run build`: makes `dist/`, or the folder given, from `src/`: the program, and the types that are public. */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";

import { bundle } from "./bundle.ts";
import { writeDeclarations } from "./declarations.ts";
import { ROOT } from "./package-file.ts";

const folder = resolve(process.argv[2] ?? join(ROOT, "dist"));
rmSync(folder, { recursive: true, force: true });
await bundle(folder);
writeDeclarations(folder);
