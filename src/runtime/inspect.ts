import { openSqliteLedger } from "../store/sqlite/sqlite-ledger.ts";
import type { Ledger } from "../store/store.ts";
import { databasePath } from "./home.ts";

/** What a home has on record, for reading only: also beside a Cortex that runs. */
export function openLedger(home: string): Promise<Ledger> {
  return openSqliteLedger({ path: databasePath(home) });
}
