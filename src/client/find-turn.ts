import type { TurnId } from "../model/ids.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import { isUlid } from "../model/ulid.ts";
import type { Ledger } from "../store/store.ts";
import { sessionUnknown } from "./unknown.ts";

/** The turn of this id, or the one that the session of this name points at: none, if nothing was said there yet. */
export async function findTurn(name: string, ledger: Ledger): Promise<TurnId | undefined> {
  if (isUlid(name) && (await ledger.turns.get(name as TurnId)) !== undefined) return name as TurnId;
  const session = await ledger.sessions.get(normalizeSessionKey(name));
  if (session === undefined) throw sessionUnknown(name);
  return session.head;
}
