import { existsSync } from "node:fs";
import { join } from "node:path";

import { configFolder } from "../config/read.ts";
import { FolderWatch } from "../config/watch-folders.ts";
import type { OpenFeature } from "../feature/feature.ts";
import type { Ports } from "../feature/ports.ts";
import { isRelayId, type RelayId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { OpenOnUse } from "../model/open-on-use.ts";
import type { OpenRelays } from "./open-relays.ts";
import { SHORTEST_KEPT_MS } from "./engine/retention.ts";
import { THREADS_FILE } from "./record/threads-file.ts";
import { SessionScriptsOnFile } from "./scripts/session-scripts-on-file.ts";
import { CANCEL } from "./record/progress-place.ts";
import { accessTo, parseRelayCommand, RELAY_USAGE, SHARED_USAGE } from "./surface/chat-command-syntax.ts";
import { templateFile, templateFolders, TEMPLATES_DEBOUNCE_MS } from "./templates/folders.ts";

/**
 * Opens relays on first use, because many homes never run one. At the start it only looks for relays to continue. A change
 * of their files also opens them, to report mistakes to the owner.
 */
export function openRelay(ports: Ports): OpenFeature {
  const { home, store, clock, log } = ports;
  const relays = new OpenOnUse<OpenRelays>(async () => (await import("./open-relays.ts")).openRelays(ports));
  const api = relays.methods();
  const sessionScripts = new SessionScriptsOnFile(ports);
  let firstChange: FolderWatch | undefined;

  async function continueRelays(): Promise<void> {
    try {
      if (await hasWork(ports)) await relays.open();
    } catch (error) {
      log(`Cannot continue relays: ${String(error)}`);
    }
  }

  async function openAfter(files: readonly string[]): Promise<void> {
    try {
      (await relays.open()).filesChanged(files);
    } catch (error) {
      log(`Cannot read relay files: ${String(error)}`);
    }
  }

  return {
    api: { relays: api },
    chat: {
      usage: RELAY_USAGE.split("\n"),
      usageFor: SHARED_USAGE,
      menu: [
        { word: "cancel", about: "Stop what is running here" },
        { word: "thread", about: "Show or start a relay" },
      ],
      parse(text) {
        const command = parseRelayCommand(text);
        if (command === undefined) return undefined;
        return {
          access: accessTo(command),
          async run(origin) {
            const { carryOutRelay } = await import("./surface/chat-commands.ts");
            return carryOutRelay(command, origin, { relays: api, store, clock });
          },
        };
      },
    },
    buttons: [
      {
        prefix: CANCEL,
        async press(pressed) {
          const { pressCancel } = await import("./surface/cancel-button.ts");
          return pressCancel(pressed, { relays: api, store });
        },
      },
    ],
    async recover() {
      firstChange = watchFirstChange(home, openAfter);
      await continueRelays();
      await sessionScripts.start();
    },
    configChanged: () => void relays.opened().then((opened) => opened?.filesChanged()),
    async readWait(detail) {
      const id = relayIn(detail);
      if (id === undefined) return undefined;
      const { readLabelledResult } = await import("./engine/relay-label.ts");
      return readLabelledResult(id, ports);
    },
    async [Symbol.asyncDispose]() {
      firstChange?.[Symbol.dispose]();
      await sessionScripts[Symbol.asyncDispose]();
      await (await relays.opened())?.[Symbol.asyncDispose]();
    },
  };
}

async function hasWork({ store, clock, home }: Ports): Promise<boolean> {
  const [isOpen, [ended]] = await Promise.all([
    store.relays.anyOpen(),
    store.relays.endedBefore(clock() - SHORTEST_KEPT_MS, { limit: 1 }),
  ]);
  return isOpen || ended !== undefined || existsSync(join(home, THREADS_FILE));
}

/** The relay that a suspended call waits for. */
function relayIn(detail: Json): RelayId | undefined {
  const id = typeof detail === "object" && detail !== null && "relay" in detail ? detail.relay : undefined;
  return typeof id === "string" && isRelayId(id) ? id : undefined;
}

/** Reports the first change only: opened relays watch their files themselves. */
function watchFirstChange(home: string, onChange: (files: readonly string[]) => Promise<void>): FolderWatch {
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
      void onChange([...touched].toSorted());
    },
    debounceMs: TEMPLATES_DEBOUNCE_MS,
  });
  return watch;
}
