import type { Database } from "better-sqlite3";

import { operation } from "./operation.ts";
import { type Decoded, number, record, text } from "./wire.ts";

export const progressCodec = record({ job: text, position: number });

export const setProgress = operation(progressCodec, (db) => {
  const set = prepareSetProgress(db);
  return (progress): null => {
    set(progress);
    return null;
  };
});

export function prepareSetProgress(db: Database): (progress: Decoded<typeof progressCodec>) => void {
  const put = db.prepare(
    `insert into progress (job, position) values (?, ?)
     on conflict (job) do update set position = excluded.position`,
  );
  return ({ job, position }) => void put.run(job, position);
}

export function prepareReadProgress(db: Database) {
  const find = db.prepare<[string], number>("select position from progress where job = ?").pluck();
  return { get: (job: string): number | undefined => find.get(job) };
}
