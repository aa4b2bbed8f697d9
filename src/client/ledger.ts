import { CortexError } from "../model/errors.ts";
import { databasePath, refuseFile } from "../config/home.ts";
import { openSqliteLedger } from "../store/sqlite/sqlite-ledger.ts";
import type { Ledger } from "../store/store.ts";
import { type Invocation, text } from "../feature/command.ts";

/** Opens what a home has on record, for reading only: also beside a Cortex that runs. */
export async function openLedger(home: string): Promise<Ledger> {
  refuseFile(home);
  return openSqliteLedger({ path: databasePath(home) });
}

export type StoredTurn = NonNullable<Awaited<ReturnType<Ledger["turns"]["get"]>>>;

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
