/**
 * Which members Cortex runs. A note with `runtime: cortex` is Cortex's; a note with any other `runtime` is not. The team
 * protocol has no such field, so a note without it belongs to Cortex only where that is unambiguous: in a directory that
 * `cortex team init` created, or if the owner has set `adopt: true` in `config.yaml`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

import type { MemberNote } from "../markdown/read-note.ts";
import { createIfMissing, KEPT_FOLDER, openKeptFolder } from "./confine.ts";

/** The `runtime:` of a member whose tasks Cortex works on. */
export const MANAGED_RUNTIME = "cortex";
/** The `runtime:` of a member run by another program. Any other value means the same. */
export const FOREIGN_RUNTIME = "foreign";

const MARKER = "team.json";

/** Records that `cortex team init` created the directory. */
export function markAsOurs(root: string): void {
  const folder = openKeptFolder(root, KEPT_FOLDER);
  createIfMissing(join(folder, MARKER), `${JSON.stringify({ madeBy: "cortex team init" })}\n`);
}

export function isMarkedAsOurs(root: string): boolean {
  return existsSync(join(root, KEPT_FOLDER, MARKER));
}

export function isManagedNote({ runtime }: Pick<MemberNote, "runtime">, adopts: boolean): boolean {
  return runtime === undefined ? adopts : runtime === MANAGED_RUNTIME;
}

/** Why Cortex does not run a member, and the command that changes it. */
export function whyForeign(slug: string, { runtime }: Pick<MemberNote, "runtime">): string {
  const why = runtime === undefined ? "has no `runtime: cortex`" : `says \`runtime: ${runtime}\``;
  return `Cortex does not run this member: its note ${why}. Run \`cortex team adopt ${slug}\` to change that.`;
}
