import type { Database } from "better-sqlite3";

import type { WatchedFile } from "../store.ts";
import { operation } from "./operation.ts";
import { checkPage } from "./page.ts";
import { type Decoded, list, number, optional, record, text } from "./wire.ts";

/** Without facts: the file is gone. */
export const fileCodec = record({
  path: text,
  facts: optional(record({ modifiedMs: number, size: number, sha256: text })),
});

type FileInput = Decoded<typeof fileCodec>;

export const noteFiles = operation(record({ files: list(fileCodec) }), (db) => {
  const note = prepareNoteFile(db);
  return ({ files }): null => {
    for (const file of files) note(file);
    return null;
  };
});

export function prepareNoteFile(db: Database): (file: FileInput) => void {
  const put = db.prepare(
    `insert into watched_file (path, modified_ms, size, sha256) values (?, ?, ?, ?)
     on conflict (path) do update
     set modified_ms = excluded.modified_ms, size = excluded.size, sha256 = excluded.sha256`,
  );
  const remove = db.prepare("delete from watched_file where path = ?");
  return ({ path, facts }) => {
    if (facts === undefined) remove.run(path);
    else put.run(path, facts.modifiedMs, facts.size, facts.sha256);
  };
}

/** Comes after every character that a path can hold. */
const LAST_CHARACTER = "\u{10FFFF}";

export function prepareReadFiles(db: Database) {
  const find = db.prepare<[Bounds], WatchedFile>(
    `select path, modified_ms as modifiedMs, size, sha256 from watched_file
     where path >= @from and path < @end and path <> @after order by path limit @limit`,
  );
  return {
    known({ under, after = "", limit }: { under: string; after?: string; limit?: number }): WatchedFile[] {
      const from = after === "" ? under : after;
      return find.all({ from, end: under + LAST_CHARACTER, after, limit: checkPage(limit) });
    },
  };
}

interface Bounds {
  readonly from: string;
  readonly end: string;
  readonly after: string;
  readonly limit: number;
}
