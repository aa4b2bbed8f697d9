import type { Database } from "better-sqlite3";

import type { Json } from "../../model/json.ts";
import type { CursorList, KnownCursor } from "../store.ts";
import { operation } from "./operation.ts";
import { checkPage } from "./page.ts";
import { maybe, parseJson } from "./row.ts";
import { type Decoded, json, list, optional, record, text } from "./wire.ts";

/** Without a value: the source is gone. */
export const cursorCodec = record({ source: text, value: optional(json) });

export const setCursors = operation(record({ cursors: list(cursorCodec) }), (db) => {
  const set = prepareSetCursor(db);
  return ({ cursors }): null => {
    for (const cursor of cursors) set(cursor);
    return null;
  };
});

export function prepareSetCursor(db: Database): (cursor: Decoded<typeof cursorCodec>) => void {
  const put = db.prepare(
    "insert into cursor (source, value) values (?, ?) on conflict (source) do update set value = excluded.value",
  );
  const remove = db.prepare("delete from cursor where source = ?");
  return ({ source, value }) => {
    if (value === undefined) remove.run(source);
    else put.run(source, value);
  };
}

/** Comes after every character that a source can hold. */
const LAST_CHARACTER = "\u{10FFFF}";

export function prepareReadCursors(db: Database) {
  const find = db.prepare<[string], string>("select value from cursor where source = ?").pluck();
  const page = db.prepare<[Bounds], { source: string; value: string }>(
    `select source, value from cursor
     where source >= @from and source < @end and source <> @after order by source limit @limit`,
  );
  return {
    get: (source: string): Json | undefined => maybe(find.get(source), parseJson),
    list({ under, after = "", limit }: CursorList): KnownCursor[] {
      const from = after === "" ? under : after;
      const rows = page.all({ from, end: under + LAST_CHARACTER, after, limit: checkPage(limit) });
      return rows.map(({ source, value }) => ({ source, value: parseJson(value) }));
    },
  };
}

interface Bounds {
  readonly from: string;
  readonly end: string;
  readonly after: string;
  readonly limit: number;
}
