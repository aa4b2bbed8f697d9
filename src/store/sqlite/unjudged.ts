import type { Database } from "better-sqlite3";

import type { OperationTime } from "./operation.ts";

/** Events that hooks still have to judge: one small row each, from the commit that accepts the event. */
export function prepareUnjudged(db: Database) {
  const insert = db.prepare("insert into unjudged (event) values (?)");
  const remove = db.prepare("delete from unjudged where event = ?");
  return {
    add(event: number, { wake }: Pick<OperationTime, "wake">): void {
      insert.run(event);
      wake("hooks");
    },
    remove(event: number): void {
      remove.run(event);
    },
  };
}
