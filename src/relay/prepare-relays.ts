import { existsSync } from "node:fs";
import { join } from "node:path";

import { configFolder } from "../config/read.ts";
import { FolderWatch } from "../config/watch-folders.ts";
import { templateFile, templateFolders, TEMPLATES_DEBOUNCE_MS } from "./templates/folders.ts";
import { SHORTEST_KEPT_MS } from "./engine/retention.ts";
import { THREADS_FILE } from "./record/threads-file.ts";
import type { Ports } from "../feature/ports.ts";
import type { Relays } from "./relays.ts";

/**
 * Relays are opened when they are first needed, because many a Cortex runs for months without one: at the start
 * it is only looked whether there is something to go on with. A change of their files needs them too, because their owner
 * wants to know what is wrong with it.
 */
export function prepareRelays(ports: Ports): Relays {
  const { store, home, clock, log } = ports;
  let opening: Promise<Relays> | undefined;
  const open = (): Promise<Relays> =>
    (opening ??= import("./open-relays.ts")
      .then(({ openRelays }) => openRelays(ports))
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
  let watch: FolderWatch | undefined;
  function lookAgain(files?: readonly string[]): void {
    const opened = files === undefined ? opening : open();
    opened
      ?.then((relays) => relays.lookAgain(files))
      .catch((error: unknown) => log(`The files of relays were not read: ${String(error)}`));
  }
  return {
    async start() {
      watch = watchUntilTouched(home, lookAgain);
      await lookForWork().catch((error: unknown) => log(`Relays do not go on for now: ${String(error)}`));
    },
    config: async () => (await open()).config(),
    lookAgain,
    run: async (request) => (await open()).run(request),
    add: async (addition) => (await open()).add(addition),
    cancel: async (id) => (await open()).cancel(id),
    resume: async (id) => (await open()).resume(id),
    say: async (id, text, from) => (await open()).say(id, text, from),
    get: async (id) => (await open()).get(id),
    list: async (options) => (await open()).list(options),
    artifact: async (id, step) => (await open()).artifact(id, step),
    dryRun: async (request) => (await open()).dryRun(request),
    ended: async (id, signal) => (await open()).ended(id, signal),
    async [Symbol.asyncDispose]() {
      watch?.[Symbol.dispose]();
      await (await opening?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

/** Tells of the first change, and of no other: from then on relays watch their files themselves. */
function watchUntilTouched(home: string, tell: (files: readonly string[]) => void): FolderWatch {
  const folders = { home, config: configFolder(home) };
  const touched = new Set<string>();
  const watch = new FolderWatch({
    folders: () => templateFolders(folders),
    onTouched(path) {
      const file = templateFile(path, folders);
      if (file !== undefined) touched.add(file);
    },
    onChange() {
      if (touched.size === 0) return;
      watch[Symbol.dispose]();
      tell([...touched].toSorted());
    },
    debounceMs: TEMPLATES_DEBOUNCE_MS,
  });
  return watch;
}
