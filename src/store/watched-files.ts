/**
 * What each watched file was like when its last event was taken in. What was missed while nobody watched is the
 * difference between this and what is found.
 */
export interface FileReads {
  /** Those whose path begins with a text, by path; with `after`, those behind that path. */
  known(options: {
    readonly under: string;
    readonly after?: string;
    readonly limit?: number;
  }): Promise<WatchedFile[]>;
}

export interface FileStore extends FileReads {
  /** Notes files without an event: those that were there before anybody watched, say. */
  note(files: readonly FileState[]): Promise<void>;
}

export interface WatchedFile {
  readonly path: string;
  /** Whole milliseconds. */
  readonly modifiedMs: number;
  readonly size: number;
  readonly sha256: string;
}

/** gone: nothing is known of it any more. */
export type FileState = WatchedFile | { readonly path: string; readonly gone: true };
