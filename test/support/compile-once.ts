import { openTestStore } from "./open-store.ts";

/** A store is opened before any test, so that the threads of those that follow find their sources compiled. */
export default async function compileOnce(): Promise<void> {
  try {
    await using opened = await openTestStore();
    await opened.store.counts();
  } catch {
    // A store that cannot be opened is for its own tests to tell.
  }
}
