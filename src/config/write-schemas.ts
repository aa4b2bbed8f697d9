import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { hasCode } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import { cortexSchema } from "./cortex-schema.ts";
import { profilesSchema } from "./profiles-schema.ts";
import { configFolder } from "./read.ts";

const SCHEMAS = { "cortex.schema.json": cortexSchema, "profiles.schema.json": profilesSchema };

/**
 * Writes the JSON Schemas next to the files they describe, so that editors can complete and check them: the core's, and
 * those of features. Unchanged files are not touched. Throws `home_unwritable`.
 */
export async function writeSchemas(
  home: string,
  more: Readonly<Record<string, z.ZodType>> = {},
): Promise<void> {
  const folder = configFolder(home);
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, schema] of Object.entries({ ...SCHEMAS, ...more })) {
      await replaceFile(join(folder, name), schemaText(schema));
    }
  } catch (cause) {
    throw new CortexError("home_unwritable", `Cannot write the JSON schemas to ${folder}`, {
      hint: "Check the folder's permissions and free disk space.",
      cause,
    });
  }
}

function schemaText(schema: z.ZodType): string {
  // Draft 7 is the version that all editors support.
  return `${JSON.stringify(z.toJSONSchema(schema, { io: "input", target: "draft-7" }), null, 2)}\n`;
}

/** Atomic: readers see the old text or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  if ((await currentText(path)) === text) return;
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function currentText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
