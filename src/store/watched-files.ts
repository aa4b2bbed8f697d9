/**
 * The state of each watched file when its last event was accepted. Changes made while nothing was watching are the
 * difference to its current state.
 */
export interface FileReads {
  /** Files whose path starts with `under`, by path; with `after`, those that follow that path. */
  known(options: {
    readonly under: string;
    readonly after?: string;
    readonly limit?: number;
  }): Promise<WatchedFile[]>;
}

export interface FileStore extends FileReads {
  /** Records files without an event, such as those that existed before watching started. */
  note(files: readonly FileState[]): Promise<void>;
}

export interface WatchedFile {
  readonly path: string;
  /** Whole milliseconds. */
  readonly modifiedMs: number;
  readonly size: number;
  readonly sha256: string;
}

/** gone: forgets the file. */
export type FileState = WatchedFile | { readonly path: string; readonly gone: true };
