import { openTestStore } from "./open-store.ts";

/** A store is opened before any test, so that the threads of those that follow find their sources compiled. */
export default async function compileOnce(): Promise<void> {
  await using opened = await openTestStore();
  await opened.store.counts();
}
