import type { Database } from "better-sqlite3";

import type { Prunable } from "../store.ts";
import { KEPT_TURNS, PRUNABLE } from "./prunable.ts";

/** Bytes that pruning removes from a message and from a tool call. */
const SAID = "octet_length(m.content) + coalesce(octet_length(m.body), 0)";
const DONE = "octet_length(c.params) + coalesce(octet_length(c.result), 0)";
const EVENT = `coalesce(octet_length(e.content), 0) + coalesce(octet_length(e.payload), 0)
  + coalesce(octet_length(e.attachments), 0) + coalesce(octet_length(e.metadata), 0)`;

/** Counts what pruning would remove. It reads all old rows, so it is slow. */
export function readPrunable(db: Database, beforeMs: number): Prunable {
  const turns = `${KEPT_TURNS}, old (key) as materialized (
      select t.key from turn t where ${PRUNABLE.turns} and t.key not in (select key from kept))`;
  return db
    .prepare<[{ beforeMs: number; principals: null }], Prunable>(
      `${turns}
       select (select count(*) from old) as turns,
         (select count(*) from event e where ${PRUNABLE.events}
            and (e.message is null or e.message / 65536 in (select key from old)
                 or exists (select 1 from turn t where t.key = e.message / 65536 and t.pruned_ms is not null)))
           as events,
         (select count(*) from delivery d where ${PRUNABLE.deliveries}) as deliveries,
         (select count(*) from approval a where ${PRUNABLE.approvals}) as approvals,
         (select count(*) from relay r where ${PRUNABLE.relays}) as relays,
         (select coalesce(sum(${SAID}), 0) from old join message m
            on m.key between old.key * 65536 and old.key * 65536 + 65535)
         + (select coalesce(sum(${DONE}), 0) from old join tool_call c
              on c.key between old.key * 65536 and old.key * 65536 + 65535)
         + (select coalesce(sum(${EVENT}), 0) from event e where ${PRUNABLE.events} and e.message is null)
         + (select coalesce(sum(octet_length(c.content)), 0) from delivery d join chunk c on c.delivery = d.key
              where ${PRUNABLE.deliveries}) as bytes`,
    )
    .get({ beforeMs, principals: null })!;
}
