import { verifyDatabase } from "../store/sqlite/verify.ts";
import type { Verdict } from "../store/store.ts";
import { databasePath } from "./home.ts";

/** Checks the ledger of a home without becoming its writer, so also beside a Cortex that runs. */
export function verifyHome(home: string): Verdict {
  return verifyDatabase(databasePath(home));
}
