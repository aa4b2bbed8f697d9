import type { Database } from "better-sqlite3";

import type { Identity } from "../../model/principal.ts";
import { type DeliveryTarget, MAX_PAIRINGS, type Pairing } from "../store.ts";
import { operation } from "./operation.ts";
import { maybe, required } from "./row.ts";
import { json, number, record, text, words } from "./wire.ts";

export const offerPairing = operation(
  record({ code: text, identity: words, name: words, target: json, expiresMs: number }),
  (db) => {
    const forget = db.prepare("delete from pairing where expires_ms <= ?");
    const findOf = db.prepare<[string], string>("select code from pairing where identity = ?").pluck();
    const count = db.prepare<[], number>("select count(*) from pairing").pluck();
    const insert = db.prepare(
      `insert into pairing (code, identity, name, target, offered_ms, expires_ms)
       values (@code, @identity, @name, @target, @nowMs, @expiresMs)`,
    );
    return (offer, { nowMs }): { code: string; fresh: boolean } | null => {
      forget.run(nowMs);
      const known = findOf.get(offer.identity);
      if (known !== undefined) return { code: known, fresh: false };
      if (required(count.get()) >= MAX_PAIRINGS) return null;
      insert.run({ ...offer, nowMs });
      return { code: offer.code, fresh: true };
    };
  },
);

export const removePairing = operation(record({ code: text }), (db) => {
  const remove = db.prepare("delete from pairing where code = ?");
  return ({ code }): null => {
    remove.run(code);
    return null;
  };
});

interface PairingRow extends Omit<Pairing, "identity" | "target"> {
  readonly identity: string;
  readonly target: string;
}

const COLUMNS = "code, identity, name, target, offered_ms as offeredAtMs, expires_ms as expiresAtMs";

export function prepareReadPairings(db: Database) {
  const list = db.prepare<[number], PairingRow>(
    `select ${COLUMNS} from pairing where expires_ms > ? order by offered_ms desc, code`,
  );
  const find = db.prepare<[string, number], PairingRow>(
    `select ${COLUMNS} from pairing where code = ? and expires_ms > ?`,
  );
  return {
    list: (nowMs: number): Pairing[] => list.all(nowMs).map(toPairing),
    find: (code: string, nowMs: number): Pairing | undefined => maybe(find.get(code, nowMs), toPairing),
  };
}

function toPairing({ identity, target, ...row }: PairingRow): Pairing {
  return { ...row, identity: identity as Identity, target: JSON.parse(target) as DeliveryTarget };
}
