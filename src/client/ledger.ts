import { CortexError } from "../model/errors.ts";
import type { TurnId } from "../model/ids.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import { isUlid } from "../model/ulid.ts";
import { databasePath, refuseFile } from "../config/home.ts";
import { openSqliteLedger } from "../store/sqlite/sqlite-ledger.ts";
import type { Ledger } from "../store/store.ts";
import { type Invocation, text } from "../feature/command.ts";

/** Opens the ledger of a home read-only, also while a server is running. */
export async function openLedger(home: string): Promise<Ledger> {
  refuseFile(home);
  return openSqliteLedger({ path: databasePath(home) });
}

const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 1_000;

/** The value of `--limit`. */
export function limitOf(given: Invocation): number {
  const wanted = text(given, "limit") ?? String(DEFAULT_LIMIT);
  const limit = Number(wanted);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new CortexError("usage", `Invalid limit "${wanted}"`, {
    hint: `Use a whole number from 1 to ${MAX_LIMIT}.`,
  });
}

/** The turn with this id, or the head of the session with this name: undefined if it has no turn yet. */
export async function findTurn(name: string, ledger: Ledger): Promise<TurnId | undefined> {
  const turn = isUlid(name) ? await ledger.turns.get(name as TurnId) : undefined;
  if (turn !== undefined) return turn.id;
  const session = await ledger.sessions.get(normalizeSessionKey(name));
  if (session === undefined) throw nameUnknown(name);
  return session.head;
}

export function nameUnknown(name: string): CortexError {
  return new CortexError("session_unknown", `Unknown session or turn "${name}"`, {
    hint: "Run `cortex sessions` to list sessions.",
  });
}

export function turnMissing(id: string): CortexError {
  return new CortexError("turn_unknown", `Unknown turn "${id}"`, {
    hint: "Run `cortex log --all` to list turns; an id has 26 characters.",
  });
}
