/**
 * The labels of a team's files: whose words they hold, and to whom these are private.
 *
 * People, Cortex and other programs change parts of them. So what an agent wrote stays in the label of its file, whatever
 * others do with the file afterwards: after a change outside of Cortex, nobody can tell whether its words are still there.
 * Tasks have labels of their own beside that (`task-labels.ts`), so that a task of the owner is not labelled for what
 * others wrote into the same file.
 */
import { basename, dirname, join } from "node:path";

import type { Label } from "../../model/trust.ts";
import { FileLabels, type FileOrigin } from "../../personas/file-labels.ts";
import type { LabelStore } from "../../store/store.ts";
import { REMOVED_FILE } from "./set-aside.ts";

type Author = Parameters<FileLabels["addPart"]>[2];

export class TeamLabels {
  readonly #root: string;
  readonly #files: FileLabels;

  constructor({
    root,
    home,
    labels,
  }: {
    readonly root: string;
    readonly home: string;
    readonly labels: LabelStore;
  }) {
    this.#root = root;
    this.#files = new FileLabels({ labels, home, foreign: [], shared: async () => [root] });
  }

  /** Before Cortex changes a file: what others wrote into it keeps its label. */
  async keepRest(path: string): Promise<void> {
    for (const file of this.#together(path)) await this.#files.keepRest(join(this.#root, path), file);
  }

  /** Labelled text is about to become part of this file. */
  async addPart(path: string, label: Label, author: Author): Promise<void> {
    for (const file of this.#together(path)) await this.#files.addPart(file, label, author);
  }

  /** What wrote to this file, apart from Cortex itself. */
  ofRest(path: string): Promise<FileOrigin> {
    return this.#files.ofRest(join(this.#root, path));
  }

  ofFiles(paths: readonly string[]): Promise<Label> {
    return this.#files.ofFiles(paths.map((path) => join(this.#root, path)));
  }

  /** Of all files of the team. */
  ofAll(): Promise<Label> {
    return this.#files.ofFolders([this.#root]);
  }

  /** A file, and where its tasks are kept that vanish from it. */
  #together(path: string): string[] {
    const file = join(this.#root, path);
    return basename(path) === TASKS_FILE ? [file, join(dirname(file), REMOVED_FILE)] : [file];
  }
}

const TASKS_FILE = "tasks.md";
