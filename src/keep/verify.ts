import { verifyDatabase } from "../store/sqlite/verify.ts";
import type { Verdict } from "../store/store.ts";
import { databasePath, refuseFile } from "../config/home.ts";

/** Checks the ledger of a home without becoming its writer, so also beside a Cortex that runs. */
export function verifyHome(home: string): Verdict {
  refuseFile(home);
  return verifyDatabase(databasePath(home));
}
