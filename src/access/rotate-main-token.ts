import { writeMainToken } from "../config/main-token.ts";
import { tokenPath } from "../config/home.ts";
import { mainTokenNote, mintMainToken } from "../model/token.ts";
import type { Actor, Store } from "../store/store.ts";

/**
 * Replaces the main token of a running server, which reads the file for every request. The audit log has the new one
 * first: a crash in between leaves the old one in force, and the next start notes that.
 */
export async function rotateMainToken(
  home: string,
  { store, by }: { readonly store: Pick<Store, "audit">; readonly by: Actor },
): Promise<{ readonly fingerprint: string }> {
  const token = mintMainToken();
  const note = mainTokenNote(token);
  await store.audit.noteOutside(note, by);
  writeMainToken(tokenPath(home), token);
  return { fingerprint: note.fingerprint };
}

/** Where no server runs. The next one notes it in the audit log when it starts. */
export function replaceMainToken(home: string): { readonly fingerprint: string } {
  const token = mintMainToken();
  writeMainToken(tokenPath(home), token);
  return { fingerprint: mainTokenNote(token).fingerprint };
}
