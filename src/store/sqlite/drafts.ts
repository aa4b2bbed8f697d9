/** Drafts of answers: see `DraftStore`. */
import type { Database } from "better-sqlite3";

import type { DeliveryId, TurnId } from "../../model/ids.ts";
import type { Draft, DraftState } from "../store.ts";
import { operation } from "./operation.ts";
import { defined, maybe } from "./row.ts";
import { record, text, words, wordsOrNull } from "./wire.ts";

export const beginDraft = operation(
  record({ run: text, target: words, channel: text, account: words, place: words, topic: wordsOrNull }),
  (db) => {
    const insert = db.prepare(
      `insert into draft (turn, session, target, channel, account, place, topic)
       select r.turn, r.session, @target, @channel, @account, @place, @topic from run r join session s on s.run = r.key
       where r.id = @run and r.state = 'running'
       on conflict do nothing`,
    );
    return (draft): boolean => insert.run(draft).changes > 0;
  },
);

/** A turn that is not complete has the key of its first run. */
const OF_TURN = `turn = (select key from turn where id = @turn
  union all select r.turn from run r where r.turn_id = @turn and r.state <> 'completed' limit 1)`;

export const sentDraft = operation(record({ turn: text, platformId: words }), (db) => {
  const note = db.prepare(`update draft set platform_id = @platformId where ${OF_TURN}`);
  return ({ turn, platformId }): null => {
    note.run({ platformId, turn });
    return null;
  };
});

export const forgetDraft = operation(record({ turn: text }), (db) => {
  const forget = db.prepare(`delete from draft where ${OF_TURN}`);
  return ({ turn }): null => {
    forget.run({ turn });
    return null;
  };
});

/** Binds the draft of a turn to the delivery that goes to the same place. */
export function prepareBindDraft(db: Database) {
  const bind = db.prepare(
    "update draft set delivery = (select key from delivery where id = ?) where turn = ? and target = ?",
  );
  return (delivery: { readonly id: string; readonly target: string }, turn: number): void =>
    void bind.run(delivery.id, turn, delivery.target);
}

interface DraftRow {
  readonly turn: TurnId;
  readonly channel: string;
  readonly account: string;
  readonly place: string;
  readonly topic: string | null;
  readonly platform_id: string | null;
  readonly state: DraftState;
}

const DRAFTS = `select (select r.turn_id from run r where r.key = d.turn) as turn,
    d.channel, d.account, d.place, d.topic, d.platform_id,
    case
      when d.delivery is null then iif(exists (select 1 from session s join run r on r.key = s.run
        where s.key = d.session and r.turn = d.turn and r.state in ('running', 'resumable')), 'writing', 'stale')
      when a.settled_ms is null then 'waiting'
      when exists (select 1 from chunk c
        where c.delivery = a.key and c.state = 'sent' and c.platform_id = d.platform_id) then 'replaced'
      else 'stale'
    end as state
  from draft d left join delivery a on a.key = d.delivery`;

export function prepareReadDrafts(db: Database) {
  const list = db.prepare<[], DraftRow>(`${DRAFTS} order by d.turn`);
  const find = db.prepare<[{ turn: TurnId }], DraftRow>(`${DRAFTS} where d.${OF_TURN}`);
  const findOf = db.prepare<[string], DraftRow>(`${DRAFTS} where a.id = ?`);
  return {
    list: (): Draft[] => list.all().map(toDraft),
    get: (turn: TurnId): Draft | undefined => maybe(find.get({ turn }), toDraft),
    ofDelivery: (delivery: DeliveryId): Draft | undefined => maybe(findOf.get(delivery), toDraft),
  };
}

function toDraft({ turn, channel, account, place, topic, platform_id, state }: DraftRow): Draft {
  return {
    turn,
    target: { channel, account, place, ...defined({ topic }) },
    platformId: platform_id ?? undefined,
    state,
  };
}
