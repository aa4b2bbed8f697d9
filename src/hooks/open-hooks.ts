/** Opens the hooks of a home: watches their folder, and judges every event that a hook could want. */
import { rmSync } from "node:fs";
import { readFile } from "node:fs/promises";

import { databasePath } from "../config/home.ts";
import { FolderWatch } from "../config/watch-folders.ts";
import type { Incoming } from "../events/incoming.ts";
import type { OpenFeature } from "../feature/feature.ts";
import type { Ports } from "../feature/ports.ts";
import { CortexError } from "../model/errors.ts";
import type { Direction } from "../model/event.ts";
import type { EventId } from "../model/ids.ts";
import { namedVariables } from "../programs/environment.ts";
import type { Actor, Store, StoredHook } from "../store/store.ts";
import { addHookFile, addShippedHooks, findHookFile, hooksPath } from "./folder/files.ts";
import { findSyntaxError } from "./folder/find-syntax-error.ts";
import { hookUnknown, parseHookName } from "./hook-name.ts";
import { Catalogue } from "./judge/catalogue.ts";
import { dispatchOfHook } from "./judge/dispatch.ts";
import { Judge } from "./judge/judge.ts";
import { type HookTrial, tryHook } from "./judge/trial.ts";
import { createHookServices } from "./services.ts";
import { HookPool } from "./run/pool.ts";

export interface Hooks {
  list(): Promise<readonly StoredHook[]>;
  /** Whether an event of this direction is judged, on this channel or on any. */
  wants(direction: Direction, channel?: string): boolean;
  /** Enabling also closes the circuit. Throws `hook_unknown`. */
  setEnabled(name: string, enabled: boolean, by?: Actor): Promise<StoredHook>;
  /** The file of a hook as it is. Undefined: it has none. */
  source(name: string): Promise<{ readonly path: string; readonly text: string } | undefined>;
  /** Adds a file. Throws `state_conflict` if it exists, and `hook_failed` if it cannot be loaded; then nothing is kept. */
  add(name: string, source: string): Promise<StoredHook>;
  /** Asks a hook about an event of the ledger or a synthetic one. Nothing is recorded and nothing is done. */
  test(name: string, event: EventId | Incoming): Promise<HookTrial>;
}

export async function openHooks(ports: Ports): Promise<OpenFeature> {
  const { home, store, log, apis } = ports;
  addShippedHooks(home);
  const folder = hooksPath(home);
  const pool = openPool(folder, ports);
  const catalogue = new Catalogue(folder, store, pool);
  const judge = new Judge(ports, {
    catalogue,
    pool,
    dispatchFor: (event, hook, verdict) =>
      dispatchOfHook(event, hook, verdict, { ...ports, relays: apis.relays }),
  });
  const report = createErrorReports(log);
  const sync = async (): Promise<void> => {
    try {
      if (await catalogue.sync()) report(await store.hooks.list());
    } catch (error) {
      log(`Cannot read the hooks in ${folder}: ${String(error)}`);
    }
  };
  await sync();
  const watch = new FolderWatch({ folders: () => [folder], onChange: () => void sync() });
  const hooks: Hooks = {
    list: () => store.hooks.list(),
    wants: catalogue.wants,
    async setEnabled(name, enabled, by) {
      if (enabled) await sync(); // a file that has just changed is another version
      await store.hooks.setEnabled(name, enabled, by);
      await catalogue.take(name);
      if (!enabled) pool.giveUp(name);
      return getHook(name, store);
    },
    async add(name, source) {
      const problem = await findSyntaxError(source);
      if (problem !== undefined) throw unloadable(name, problem);
      const path = addHookFile(home, name, source);
      await sync();
      const stored = await getHook(name, store);
      if (stored.error === undefined) return stored;
      rmSync(path, { force: true }); // its author can try again under the same name
      await sync();
      throw unloadable(name, stored.error);
    },
    source: async (name) => {
      parseHookName(name); // throws for one that leads out of the folder
      const path = findHookFile(home, name);
      return path === undefined ? undefined : { path, text: await readFile(path, "utf8") };
    },
    test: (name, event) => tryHook(name, event, { catalogue, pool }, ports),
  };
  return {
    api: { hooks },
    start: () => judge.start(),
    wants: catalogue.wants,
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      const judged = judge[Symbol.asyncDispose]();
      await pool[Symbol.asyncDispose]();
      await judged;
    },
  };
}

function openPool(folder: string, ports: Ports): HookPool {
  const { home, settings, clock, log } = ports;
  return new HookPool({
    data: { folder, dbPath: databasePath(home) },
    variables: () => namedVariables({ names: settings.config().hooks.env, variable: settings.variable }),
    timezone: () => settings.config().timezone,
    clock,
    services: createHookServices(ports),
    onLate: (hook, error) => log(`Hook ${hook ?? "?"} failed after returning: ${error}`),
  });
}

/** Logs each error of a hook that cannot be loaded once. */
function createErrorReports(log: (line: string) => void): (hooks: readonly StoredHook[]) => void {
  const reported = new Map<string, string>();
  return (hooks) => {
    for (const { name, state, error = "" } of hooks) {
      if (state !== "errored") reported.delete(name);
      else if (reported.get(name) !== error) {
        reported.set(name, error);
        log(`Cannot load hook ${name}: ${error}`);
      }
    }
  };
}

async function getHook(name: string, store: Store): Promise<StoredHook> {
  const hook = await store.hooks.get(name);
  if (hook === undefined) throw hookUnknown(name);
  return hook;
}

function unloadable(name: string, error: string): CortexError {
  return new CortexError("hook_failed", `Cannot load hook ${name}: ${error}`, {
    hint: "Nothing was saved. Fix the code and try again.",
  });
}
