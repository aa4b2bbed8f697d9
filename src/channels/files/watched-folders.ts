/** The folders that the configuration says to watch. */
import { join, sep } from "node:path";

import type { Settings } from "../../config/settings.ts";
import { isWithin, OWNERS } from "../../model/trust.ts";
import { principalKind } from "../../model/principal.ts";
import { FileLabels } from "../../personas/file-labels.ts";
import type { OpenFeature } from "../../feature/feature.ts";
import type { Ports } from "../../feature/ports.ts";
import type { Store } from "../../store/store.ts";
import { type FileAuthorship, FileWatch, type WatchedFolder } from "./file-watch.ts";
import { cursorOf, readKnown } from "./known-files.ts";

type WatchPorts = Pick<Ports, "home" | "clock" | "accept" | "log"> & {
  readonly store: Pick<Store, "cursors" | "labels">;
  readonly settings: Pick<Settings, "config">;
};

export class WatchedFolders implements OpenFeature {
  readonly #ports: WatchPorts;
  /** By their settings: a folder whose settings change is watched anew. */
  readonly #watches = new Map<string, FileWatch>();
  #isOpen = false;
  #changing: Promise<void> = Promise.resolve();

  constructor(ports: WatchPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#isOpen = true;
    this.configChanged();
  }

  configChanged(): void {
    this.#changing = this.#changing.then(() => this.#change());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    await this.#changing;
    await Promise.all(Array.from(this.#watches.values(), (watch) => watch[Symbol.asyncDispose]()));
  }

  async #change(): Promise<void> {
    if (!this.#isOpen) return;
    const wanted = new Map(
      this.#foldersApart().map((watched): [string, WatchedFolder] => [JSON.stringify(watched), watched]),
    );
    const gone = [...this.#watches].filter(([key]) => !wanted.has(key));
    for (const [key, watch] of gone) {
      this.#watches.delete(key);
      await watch[Symbol.asyncDispose]();
    }
    for (const [key, watched] of wanted) {
      if (this.#watches.has(key)) continue;
      const watch = this.#open(watched);
      this.#watches.set(key, watch);
      watch.start();
    }
  }

  /**
   * Leaves out folders that overlap: both would report a file, each by what it knows of it. Leaves out folders that hold
   * the ledger: every event would cause another.
   */
  #foldersApart(): WatchedFolder[] {
    const { home, settings, log } = this.#ports;
    const apart: WatchedFolder[] = [];
    for (const [name, watched] of Object.entries(settings.config().channels.files)) {
      const other = apart.find(({ folder }) => overlap(folder, watched.folder));
      if (overlap(watched.folder, join(home, "data")))
        log(`Folder "${name}" is not watched: it contains the ledger (${watched.folder}).`);
      else if (other === undefined) apart.push({ name, ...watched });
      else log(`Folder "${name}" is not watched: it overlaps with "${other.name}" (${other.folder}).`);
    }
    return apart;
  }

  #open(watched: WatchedFolder): FileWatch {
    const { home, store, clock, accept, log } = this.#ports;
    const labels = new FileLabels({ labels: store.labels, home, foreign: [] });
    return new FileWatch(watched, {
      clock,
      originOf: (path) => authorshipOf(path, labels),
      known: (under) => readKnown(store.cursors, under),
      accept: (event, file) => accept(event, cursorOf(file)),
      note: (files) => store.cursors.set(...files.map(cursorOf)),
      onProblem: (problem) => log(`Watching "${watched.name}": ${problem}.`),
    });
  }
}

/**
 * A file that an agent wrote for a person counts as their words: its event has their authority and the label of the file.
 * Of several authors, the first counts, and what was denied to any is denied.
 */
async function authorshipOf(path: string, files: FileLabels): Promise<FileAuthorship> {
  const { label, principals } = await files.lastOriginOf(path);
  if (isWithin(label, OWNERS)) return {};
  const writer = principals.find((principal) => BY_PEOPLE.has(principalKind(principal)));
  return { label, ...(writer === undefined ? {} : { principal: writer }) };
}

/** What agents and sources write happens on the authority of the folder. */
const BY_PEOPLE: ReadonlySet<string> = new Set(["person", "guest"]);

function overlap(one: string, other: string): boolean {
  const [a, b] = [inside(one), inside(other)];
  return a.startsWith(b) || b.startsWith(a);
}

function inside(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep;
}
