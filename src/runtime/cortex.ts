import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { databasePath } from "./home.ts";

/** A running Cortex. */
export interface Cortex extends AsyncDisposable {
  readonly home: string;
  readonly store: Store;
}

/** Starts Cortex on a home, which is made where there is none. Only one process at a time can. */
export async function openCortex({
  home,
  clock = Date.now,
}: {
  home: string;
  clock?: () => number;
}): Promise<Cortex> {
  const store = await openSqliteStore({ path: databasePath(home), clock });
  return {
    home,
    store,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
