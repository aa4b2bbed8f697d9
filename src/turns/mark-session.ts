import type { SessionKey } from "../model/session-key.ts";
import { type Mark, TRUST_SETTING } from "../model/trust.ts";
import type { Store } from "../store/store.ts";

/** Marks are only ever added here: a person takes them away. */
export async function markSession(session: SessionKey, marks: readonly Mark[], store: Store): Promise<void> {
  if (marks.length === 0) return;
  const added = Object.fromEntries(marks.map((mark) => [mark, true]));
  await store.sessions.configure(session, { [TRUST_SETTING]: added });
}
