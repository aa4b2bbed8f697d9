import { operation } from "./operation.ts";
import { json, list, record, text, textOrNull } from "./wire.ts";

/** Stores the configured personas, for queries of the ledger. Unchanged ones are not touched. */
export const syncPersonas = operation(
  record({
    personas: list(record({ id: text, identity: json, permissions: json, mainSession: textOrNull })),
  }),
  (db) => {
    const put = db.prepare(
      `insert into persona (id, identity, permissions, main_session, updated_ms) values (?, ?, ?, ?, ?)
       on conflict (id) do update set identity = excluded.identity, permissions = excluded.permissions,
         main_session = excluded.main_session, updated_ms = excluded.updated_ms
       where (identity, permissions) <> (excluded.identity, excluded.permissions)
         or main_session is not excluded.main_session`,
    );
    const known = db.prepare<[], string>("select id from persona").pluck();
    const remove = db.prepare("delete from persona where id = ?");
    return ({ personas }, { nowMs }): null => {
      for (const { id, identity, permissions, mainSession } of personas)
        put.run(id, identity, permissions, mainSession, nowMs);
      const kept = new Set(personas.map(({ id }) => id));
      for (const id of known.all()) if (!kept.has(id)) remove.run(id);
      return null;
    };
  },
);
