import type { TurnId } from "../model/ids.ts";
import type { Principal } from "../model/principal.ts";
import type { Label } from "../model/trust.ts";

/**
 * The labels of files that agents wrote. Files without a label are not in here: a file that nobody recorded is the
 * owner's.
 *
 * A record is written before the file is, so that no crash leaves a file without its label. Until then, and after a
 * crash, a path can have several records: the one whose hash the content has counts.
 *
 * A program writes files that Cortex does not see. So a command that could pass on what is labelled is recorded while it
 * runs, with the folders that it can write to; a file there that changed meanwhile has the label of the command.
 */
export interface LabelReads {
  /** Whether nothing is recorded at all. */
  areEmpty(): Promise<boolean>;
  /**
   * Records of this path, then those of other files of this size, or with this hash: the same content was perhaps moved.
   * At most MAX_PAGE.
   */
  ofFile(file: {
    readonly path: string;
    readonly size: number;
    readonly sha256?: string | undefined;
  }): Promise<WrittenFile[]>;
  /** Records of files in a folder, at most `limit`, by path. */
  under(folder: string, options: { readonly limit: number }): Promise<WrittenFile[]>;
  /** The labels of all records of files in a folder, each once. */
  labelsUnder(folder: string): Promise<Label[]>;
  /**
   * Commands that ran at some time of this period, at most MAX_PAGE, the newest first. Of several with the same folders,
   * label and principal, the newest stands for all.
   */
  commands(period: { readonly fromMs: number; readonly untilMs: number }): Promise<LabelledCommand[]>;
}

export interface LabelStore extends LabelReads {
  /** Records what a file is about to hold. */
  willWrite(file: WrittenFile): Promise<void>;
  /** The file has been written: other records of its path are void. Without a hash, all are. */
  hasWritten(path: string, sha256?: string): Promise<void>;
  /** Begins a command. */
  beginCommand(command: NewLabelledCommand): Promise<void>;
  /**
   * Ends a command. With the files that it has changed, all of them, these are recorded instead of the command.
   */
  endCommand(id: string, endedAtMs: number, files?: readonly WrittenFile[]): Promise<void>;
}

export interface WrittenFile {
  /** Without links: absolute, or `~/` and the path in the home. */
  readonly path: string;
  readonly sha256: string;
  /** Negative: it stands for a part of the file, whatever else the file holds, or for the name of a folder or the like. */
  readonly size: number;
  readonly label: Label;
  readonly principal: Principal;
  readonly turn: TurnId | undefined;
  readonly atMs: number;
}

export interface NewLabelledCommand {
  readonly id: string;
  /** Where it can write, absolute. `/`: everywhere. */
  readonly folders: readonly string[];
  readonly label: Label;
  readonly principal: Principal;
  readonly turn: TurnId;
  readonly startedAtMs: number;
}

export interface LabelledCommand extends NewLabelledCommand {
  /** Undefined: it is running, or Cortex was killed while it was. */
  readonly endedAtMs: number | undefined;
}
