import { openSqliteLedger } from "../store/sqlite/sqlite-ledger.ts";
import type { Ledger } from "../store/store.ts";
import { databasePath, refuseFile } from "../config/home.ts";

/** What a home has on record, for reading only: also beside a Cortex that runs. */
export async function openLedger(home: string): Promise<Ledger> {
  refuseFile(home);
  return openSqliteLedger({ path: databasePath(home) });
}
