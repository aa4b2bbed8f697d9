import { CortexError } from "../model/errors.ts";
import type { TurnId } from "../model/ids.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import { isUlid } from "../model/ulid.ts";
import { databasePath, refuseFile } from "../config/home.ts";
import { openSqliteLedger } from "../store/sqlite/sqlite-ledger.ts";
import type { Ledger } from "../store/store.ts";
import { type Invocation, text } from "../feature/command.ts";

/** Opens what a home has on record, for reading only: also beside a Cortex that runs. */
export async function openLedger(home: string): Promise<Ledger> {
  refuseFile(home);
  return openSqliteLedger({ path: databasePath(home) });
}

const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 1_000;

/** How many are to be listed. */
export function limitOf(given: Invocation): number {
  const wanted = text(given, "limit") ?? String(DEFAULT_LIMIT);
  const limit = Number(wanted);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new CortexError("usage", `"${wanted}" is not a limit`, {
    hint: `A limit is a number from 1 to ${MAX_LIMIT}.`,
  });
}

/** The turn of this id, or the one that the session of this name points at: none, if nothing was said there yet. */
export async function findTurn(name: string, ledger: Ledger): Promise<TurnId | undefined> {
  if (isUlid(name) && (await ledger.turns.get(name as TurnId)) !== undefined) return name as TurnId;
  const session = await ledger.sessions.get(normalizeSessionKey(name));
  if (session === undefined) throw namedNothing(name);
  return session.head;
}

function namedNothing(name: string): CortexError {
  return new CortexError("session_unknown", `No session or turn is called "${name}"`, {
    hint: "`cortex sessions` lists the sessions there are.",
  });
}

export function turnMissing(id: string): CortexError {
  return new CortexError("turn_unknown", `No turn is called "${id}"`, {
    hint: "`cortex log --all` shows the turns there are; an id has 26 characters.",
  });
}
