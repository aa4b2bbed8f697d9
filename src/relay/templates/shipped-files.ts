/** Copies the relay agents, templates and prompts that ship with Cortex into a home. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { configFolder } from "../../config/read.ts";
import type { StarterFiles } from "../../feature/feature.ts";
import { CortexError } from "../../model/errors.ts";
import { ownFile } from "../../model/own-files.ts";
import { TEMPLATES_FILE, TEMPLATES_FOLDER } from "./files.ts";

const SHIPPED = fileURLToPath(ownFile("relays"));
const PROMPTS = "prompts";

/** For a new home: the relays that come with Cortex, and the schemas of their files. */
export async function writeRelayStarterFiles(home: string): Promise<StarterFiles> {
  const paths = addShippedRelays(home);
  await writeRelaySchemas(home);
  const folders = `${join(configFolder(home), TEMPLATES_FOLDER)} and ${join(home, PROMPTS)}`;
  return { paths, summary: `${paths.length} files of relays to ${folders}` };
}

/**
 * Does nothing in a home that has templates. Existing prompts are kept. The templates folder is moved into place as a
 * whole, after the prompts, so no template is ever visible without its prompts. Returns the files written.
 */
export function addShippedRelays(home: string): string[] {
  const folder = join(configFolder(home), TEMPLATES_FOLDER);
  if (existsSync(folder) || existsSync(join(configFolder(home), TEMPLATES_FILE))) return [];
  try {
    const prompts = filesOf(PROMPTS).filter((file) => !existsSync(join(home, file)));
    for (const file of prompts) {
      mkdirSync(dirname(join(home, file)), { recursive: true });
      cpSync(join(SHIPPED, file), join(home, file), { force: false });
    }
    return [...prompts.map((file) => join(home, file)), ...addTemplates(folder)];
  } catch (error) {
    throw new CortexError("home_unwritable", `Cannot write ${folder}`, {
      hint: "Check its permissions, or choose another home with --home or CORTEX_HOME.",
      cause: error,
    });
  }
}

function addTemplates(folder: string): string[] {
  const kinds = ["agents", "templates"];
  const growing = mkdtempSync(`${folder}-`);
  try {
    for (const kind of kinds) cpSync(join(SHIPPED, kind), join(growing, kind), { recursive: true });
    renameSync(growing, folder);
  } catch (error) {
    if (existsSync(folder)) return []; // another process was faster
    throw error;
  } finally {
    rmSync(growing, { recursive: true, force: true });
  }
  return kinds.flatMap((kind) => filesOf(kind).map((file) => join(folder, file)));
}

/** Relative to the shipped folder. */
function filesOf(folder: string): string[] {
  const entries = readdirSync(join(SHIPPED, folder), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(SHIPPED.length + 1))
    .toSorted();
}

/** Writes the JSON Schemas beside the files, for editors. */
export async function writeRelaySchemas(home: string): Promise<void> {
  const [{ RELAY_SCHEMAS }, { writeSchemas }] = await Promise.all([
    import("./schema.ts"),
    import("../../config/write-schemas.ts"),
  ]);
  await writeSchemas(home, RELAY_SCHEMAS);
}
