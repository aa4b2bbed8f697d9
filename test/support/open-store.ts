/** A real store in a folder that goes with it, and what a crash leaves of it. */
import {
  openSqliteStore,
  type SqliteOptions,
  type SqliteStore,
} from "../../src/store/sqlite/sqlite-store.ts";
import { writeNewDatabase } from "./new-database.ts";
import { testClock } from "./sample.ts";
import { memoryParent, temporaryFolder } from "./temporary.ts";
import { connectWarmThread } from "./warm-writer.ts";

export interface TestStore extends AsyncDisposable {
  readonly clock: ReturnType<typeof testClock>;
  /** The store that is open now. */
  readonly store: SqliteStore;
  /** Ends the store as a crash would, and opens what is left. */
  crash(): Promise<SqliteStore>;
}

export async function openTestStore(): Promise<TestStore> {
  const folder = temporaryFolder(memoryParent());
  const clock = testClock();
  const open = (): Promise<SqliteStore> => openWarmStore({ path: `${folder.path}/cortex.db`, clock });
  let store = await open();
  return {
    clock,
    get store() {
      return store;
    },
    async crash() {
      await store.crash();
      return (store = await open());
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/**
 * A store whose thread for writing may be one that another store had before, and whose database, if it is new, is a copy:
 * to start the one and to run all migrations for the other takes longer than most tests.
 */
export function openWarmStore(options: SqliteOptions): Promise<SqliteStore> {
  writeNewDatabase(options.path);
  return openSqliteStore({ ...options, connect: connectWarmThread });
}
