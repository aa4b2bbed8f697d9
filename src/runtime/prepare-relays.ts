import { existsSync } from "node:fs";
import { join } from "node:path";

import { SHORTEST_KEPT_MS } from "../relay/retention.ts";
import { THREADS_FILE } from "../relay/threads-file.ts";
import type { Relays, RelaySources } from "./relays.ts";

/**
 * Relays are opened when they are first needed, because many a Cortex runs for months without one: at the start
 * it is only looked whether there is something to go on with.
 */
export function prepareRelays(sources: RelaySources): Relays {
  const { store, home, clock, log } = sources;
  let opening: Promise<Relays> | undefined;
  const open = (): Promise<Relays> =>
    (opening ??= import("./open-relays.ts")
      .then(({ openRelays }) => openRelays(sources))
      .catch((error: unknown) => {
        opening = undefined; // whoever needs them next tries again
        throw error;
      }));
  async function lookForWork(): Promise<void> {
    const [isOpen, [ended]] = await Promise.all([
      store.relays.anyOpen(),
      store.relays.endedBefore(clock() - SHORTEST_KEPT_MS, { limit: 1 }),
    ]);
    const hasWork = isOpen || ended !== undefined || existsSync(join(home, THREADS_FILE));
    if (hasWork) await open();
  }
  return {
    start: () =>
      lookForWork().catch((error: unknown) => log(`Relays do not go on for now: ${String(error)}`)),
    config: async () => (await open()).config(),
    lookAgain: () => void opening?.then((relays) => relays.lookAgain()).catch(() => undefined),
    run: async (request) => (await open()).run(request),
    add: async (addition) => (await open()).add(addition),
    cancel: async (id) => (await open()).cancel(id),
    resume: async (id) => (await open()).resume(id),
    say: async (id, text) => (await open()).say(id, text),
    get: async (id) => (await open()).get(id),
    list: async (options) => (await open()).list(options),
    artifact: async (id, step) => (await open()).artifact(id, step),
    dryRun: async (request) => (await open()).dryRun(request),
    ended: async (id, signal) => (await open()).ended(id, signal),
    async [Symbol.asyncDispose]() {
      await (await opening?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
