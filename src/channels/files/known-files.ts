/**
 * The files of a watched folder as they were when their last events were accepted: each is a source of its own, whose cursor
 * is its state.
 */
import type { SourceCursor, Store } from "../../store/store.ts";

export interface WatchedFile {
  readonly path: string;
  /** Whole milliseconds. */
  readonly modifiedMs: number;
  readonly size: number;
  readonly sha256: string;
}

/** gone: forgets the file. */
export type FileState = WatchedFile | { readonly path: string; readonly gone: true };

const SOURCE = "file:";
/** How many files are read from the store at a time. */
const PAGE = 1_000;

/** The known files whose path starts with `under`. */
export async function readKnown(
  cursors: Pick<Store["cursors"], "list">,
  under: string,
): Promise<WatchedFile[]> {
  const known: WatchedFile[] = [];
  for (;;) {
    const last = known.at(-1);
    const after = last === undefined ? {} : { after: SOURCE + last.path };
    const page = await cursors.list({ under: SOURCE + under, limit: PAGE, ...after });
    for (const { source, value } of page)
      known.push({ path: source.slice(SOURCE.length), ...(value as unknown as Omit<WatchedFile, "path">) });
    if (page.length < PAGE) return known;
  }
}

export function cursorOf(file: FileState): SourceCursor {
  const source = SOURCE + file.path;
  if ("gone" in file) return { source, value: undefined };
  const { modifiedMs, size, sha256 } = file;
  return { source, value: { modifiedMs, size, sha256 } };
}
