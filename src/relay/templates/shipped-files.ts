/** The agents, templates and prompts of relays that come with Cortex, and how they get into a home. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { configFolder } from "../../config/read.ts";
import type { StarterFiles } from "../../feature/feature.ts";
import { CortexError } from "../../model/errors.ts";
import { TEMPLATES_FILE, TEMPLATES_FOLDER } from "./files.ts";

/** In a checkout and in the package alike, they lie beside this file's folder. */
const SHIPPED = fileURLToPath(new URL("../../../relays", import.meta.url));
const PROMPTS = "prompts";

/** For a new home: the relays that come with Cortex, and the schemas of their files. */
export async function writeRelayStarterFiles(home: string): Promise<StarterFiles> {
  const paths = addShippedRelays(home);
  await writeRelaySchemas(home);
  const folders = `${join(configFolder(home), TEMPLATES_FOLDER)} and ${join(home, PROMPTS)}`;
  return { paths, summary: `${paths.length} files of relays to ${folders}` };
}

/**
 * Puts them into a home that has no templates of its own. A prompt that is there already stays as it is; the folder of
 * templates comes as a whole, and last, so that nobody ever sees a template without its prompts. Returns the files.
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
    throw new CortexError("home_unwritable", `${folder} cannot be written`, {
      hint: "Check its permissions, or name another home with --home or CORTEX_HOME.",
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
    if (existsSync(folder)) return []; // somebody else was faster
    throw error;
  } finally {
    rmSync(growing, { recursive: true, force: true });
  }
  return kinds.flatMap((kind) => filesOf(kind).map((file) => join(folder, file)));
}

/** By their paths from where they are shipped. */
function filesOf(folder: string): string[] {
  const entries = readdirSync(join(SHIPPED, folder), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(SHIPPED.length + 1))
    .toSorted();
}

/** For editors: the schemas of the files, beside them. */
export async function writeRelaySchemas(home: string): Promise<void> {
  const [{ RELAY_SCHEMAS }, { writeSchemas }] = await Promise.all([
    import("./json-schemas.ts"),
    import("../../config/write-schemas.ts"),
  ]);
  await writeSchemas(home, RELAY_SCHEMAS);
}
