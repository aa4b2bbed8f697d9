/** Opens a database, says how that went, and holds it until its input ends. */
import { once } from "node:events";

import { CortexError } from "../../src/model/errors.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

try {
  await using store = await openSqliteStore({ path: process.argv[2]!, clock: Date.now });
  console.log("opened");
  await once(process.stdin.resume(), "end");
  await store.sessions.list();
} catch (error) {
  if (!(error instanceof CortexError)) throw error;
  console.log(error.code, error.message);
}
