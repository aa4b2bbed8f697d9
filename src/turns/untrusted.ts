import type { Json } from "../model/json.ts";
import type { SessionKey } from "../model/session-key.ts";
import { type Mark, TRUST_SETTING } from "../model/trust.ts";
import type { DispatchInput, QueueItem, Store } from "../store/store.ts";

/** What stands between the persona and this turn: each narrows what the turn may do. */
export function narrowedBy(items: readonly QueueItem[]): Json[] {
  return items.flatMap(({ dispatches }) => dispatches.flatMap(givenTo));
}

/** One element each: a list or null in it narrows too. */
function givenTo({ permissions }: DispatchInput): Json[] {
  return permissions === undefined ? [] : [permissions];
}

/** Whether somebody else than the owner has written any of it. What is not said to be the owner's is not. */
export function isByOthers(items: readonly QueueItem[]): boolean {
  return narrowedBy(items).some((given) => authorityIn(given) !== "owner");
}

function authorityIn(given: Json): Json | undefined {
  return given !== null && typeof given === "object" && !Array.isArray(given)
    ? (given as { readonly authority?: Json }).authority
    : undefined;
}

/** Marks are only ever added here: a person takes them away. */
export async function markSession(session: SessionKey, marks: readonly Mark[], store: Store): Promise<void> {
  if (marks.length === 0) return;
  const added = Object.fromEntries(marks.map((mark) => [mark, true]));
  await store.sessions.configure(session, { [TRUST_SETTING]: added });
}
