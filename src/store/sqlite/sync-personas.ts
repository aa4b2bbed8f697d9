import { prepareAudit, prepareLastOf } from "./audit.ts";
import { operation } from "./operation.ts";
import { json, list, record, text, textOrNull } from "./wire.ts";

/** Stores the configured personas, for queries of the ledger. Unchanged ones are not touched. */
export const syncPersonas = operation(
  record({
    personas: list(record({ id: text, identity: json, permissions: json, mainSession: textOrNull })),
    /** Of the personas and the other configured rights. */
    digest: text,
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
    const audit = prepareAudit(db);
    const lastOf = prepareLastOf(db);
    return ({ personas, digest }, { nowMs }): null => {
      const changed = personas
        .filter(
          ({ id, identity, permissions, mainSession }) =>
            put.run(id, identity, permissions, mainSession, nowMs).changes > 0,
        )
        .map(({ id }) => id);
      const kept = new Set(personas.map(({ id }) => id));
      const removed = known.all().filter((id) => !kept.has(id));
      for (const id of removed) remove.run(id);
      const last = lastOf("config.personas") as { readonly digest: string } | undefined;
      if (last?.digest === digest) return null;
      const detail = { digest, changed, removed };
      audit({ principal: "owner", kind: "config.personas", object: "config", detail, atMs: nowMs });
      return null;
    };
  },
);
