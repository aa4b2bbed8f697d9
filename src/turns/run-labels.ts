/** The labels of files as the tools of one run read and write them. */
import { lstat } from "node:fs/promises";

import { outputPath } from "../agents/tools/output.ts";
import { hasCode } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import type { ToolContext, ToolLabels } from "../model/tool.ts";
import { joinLabels, type Label, mayTell, NO_LABEL, type Trust } from "../model/trust.ts";
import { type FileLabels, FOREIGN, type TurnWriter } from "../personas/file-labels.ts";

/** The labels of files, and on whose authority a run writes some. */
export class WorkLabels {
  readonly files: FileLabels;
  readonly writer: TurnWriter;

  constructor(files: FileLabels, writer: TurnWriter) {
    this.files = files;
    this.writer = writer;
  }

  /**
   * Records the label of the output that a call has left in a file: that of the session, which chose the call and so what
   * it says.
   */
  async keepOutput(
    context: Pick<ToolContext, "outputFolder" | "callKey">,
    readLabel: () => Promise<Label>,
  ): Promise<void> {
    const path = outputPath(context);
    try {
      await lstat(path);
    } catch (error) {
      if (hasCode(error, "ENOENT")) return;
      throw error;
    }
    const own = { ...NO_LABEL, private: [this.writer.audience] };
    await this.files.record(path, joinLabels(await readLabel(), own), this.writer);
  }
}

interface RunLabelsOptions {
  /** Of the session. */
  readonly readTrust: () => Promise<Trust>;
  /** See `ToolContext`. */
  readonly confinedTo?: string | undefined;
  /** Files that came with messages of the thread. */
  readonly attached?: readonly string[];
}

export class RunLabels implements ToolLabels {
  readonly #work: WorkLabels;
  readonly #options: RunLabelsOptions;

  constructor(work: WorkLabels, options: RunLabelsOptions) {
    this.#work = work;
    this.#options = options;
  }

  /** Who is kept to their own data has sent or seen the files of their thread. */
  async ofFile(path: string): Promise<Label> {
    const { confinedTo, attached = [] } = this.#options;
    if (confinedTo === undefined || !attached.includes(path)) return this.#work.files.ofReadFile(path);
    return { ...FOREIGN, private: [confinedTo] };
  }

  ofFolders(folders: readonly string[]): Promise<Label> {
    return this.#work.files.ofFolders(folders);
  }

  async write(path: string, content: Buffer, write: () => Promise<void>): Promise<void> {
    const { files, writer } = this.#work;
    // What was in the file may stay in it: an edit changes a part.
    const label = joinLabels(await this.#options.readTrust(), await files.ofFileIfLabelled(path));
    await files.write(path, content, label, writer, write);
  }

  async run<T>({ label, ...program }: Parameters<ToolLabels["run"]>[0], run: () => Promise<T>): Promise<T> {
    const { files, writer } = this.#work;
    const { confinedTo, readTrust } = this.#options;
    if (confinedTo !== undefined && !mayTell(label, confinedTo)) throw readsOthers(confinedTo);
    const all = joinLabels(await readTrust(), label);
    return files.run({ ...program, label: all }, writer, run);
  }
}

function readsOthers(audience: string): CortexError {
  return new CortexError("tool_failed", "The command could read other people's data", {
    hint: `This conversation may only use data of ${audience}. Use Read and Write on files that it has written.`,
  });
}
