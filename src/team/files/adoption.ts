/**
 * Whose members are whose. A note that says `runtime: cortex` belongs to Cortex, one with another `runtime` does not. The
 * protocol knows no such field, so a note without one belongs to Cortex only where nobody else can be meant: in a
 * directory that `cortex team init` made, or where the owner has said so (`adopt: true` in `config.yaml`).
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { KEPT_FOLDER } from "./confine.ts";
import { hasCode } from "./file-failure.ts";
import type { MemberNote } from "../markdown/read-note.ts";
import { openKeptFolder } from "./snapshots.ts";

/** The value of `runtime:` in the note of a member whose tasks Cortex works on. */
export const MANAGED_RUNTIME = "cortex";
/** Of one that somebody else runs. Any other value says the same. */
export const FOREIGN_RUNTIME = "foreign";

const MARKER = "team.json";

/** Says that the directory was made by `cortex team init`. */
export function markAsOurs(root: string): void {
  const folder = openKeptFolder(root, KEPT_FOLDER);
  try {
    writeFileSync(join(folder, MARKER), `${JSON.stringify({ madeBy: "cortex team init" })}\n`, {
      flag: "wx",
    });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

export function isMarkedAsOurs(root: string): boolean {
  return existsSync(join(root, KEPT_FOLDER, MARKER));
}

export function isManagedNote({ runtime }: Pick<MemberNote, "runtime">, adopts: boolean): boolean {
  return runtime === undefined ? adopts : runtime === MANAGED_RUNTIME;
}

/** Why nothing happens with a member that is not ours, and what changes it. */
export function whyForeign(slug: string, { runtime }: Pick<MemberNote, "runtime">): string {
  const why = runtime === undefined ? "has no `runtime: cortex`" : `says \`runtime: ${runtime}\``;
  return `Cortex gives it no turns: its note ${why}. \`cortex team adopt ${slug}\` changes that.`;
}
