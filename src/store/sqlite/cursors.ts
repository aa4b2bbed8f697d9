import type { Database } from "better-sqlite3";

import type { Json } from "../../model/json.ts";
import { operation } from "./operation.ts";
import { maybe, parseJson } from "./row.ts";
import { type Decoded, json, record, text } from "./wire.ts";

export const cursorCodec = record({ source: text, value: json });

export const setCursor = operation(cursorCodec, (db) => {
  const set = prepareSetCursor(db);
  return (cursor): null => {
    set(cursor);
    return null;
  };
});

export function prepareSetCursor(db: Database): (cursor: Decoded<typeof cursorCodec>) => void {
  const put = db.prepare(
    "insert into cursor (source, value) values (?, ?) on conflict (source) do update set value = excluded.value",
  );
  return ({ source, value }) => void put.run(source, value);
}

export function prepareReadCursors(db: Database) {
  const find = db.prepare<[string], string>("select value from cursor where source = ?").pluck();
  return { get: (source: string): Json | undefined => maybe(find.get(source), parseJson) };
}
