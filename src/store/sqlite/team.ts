import type { Database } from "better-sqlite3";

import type { ItemId } from "../../model/ids.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { prepareAccept } from "./accept-event.ts";
import { claimCodec, type ClaimRow } from "./claim.ts";
import { dispatchCodec } from "./dispatch.ts";
import { eventCodec } from "./insert-event.ts";
import { oncePerDatabase } from "./once.ts";
import { operation, Refusal } from "./operation.ts";
import { prepareInsertSession } from "./resolve-session.ts";
import { json, number, optional, record, text, textOf } from "./wire.ts";

interface MemberInput {
  readonly team: string;
  readonly member: string;
  readonly state: string;
}

const giftCodec = record({ session: textOf<SessionKey>(), agent: text, persona: text, worker: json });

export const keepMember = operation(
  record({ team: text, member: text, state: json, isOver: number, give: optional(giftCodec) }),
  (db) => {
    const rows = prepareRows(db);
    const isThere = db.prepare<[string], number>("select 1 from session where label = ?").pluck();
    const insertSession = prepareInsertSession(db);
    const give = db.prepare("update session set worker = ? where label = ?");
    return ({ isOver, give: gift, ...member }, { nowMs }): null => {
      rows.put(member, nowMs);
      if (isOver !== 0) rows.forgetItem(member);
      if (gift === undefined) return null;
      const { session: label, agent, persona, worker } = gift;
      if (isThere.get(label) === undefined)
        insertSession({ label, agent, persona, channel: null, head: null, headId: null }, nowMs);
      give.run(worker, label);
      return null;
    };
  },
);

export interface OrderedRow {
  readonly item: ItemId;
  readonly fresh: boolean;
  readonly claim: ClaimRow | undefined;
}

export const orderTurn = operation(
  record({
    team: text,
    member: text,
    state: json,
    event: eventCodec,
    dispatch: dispatchCodec,
    worker: json,
    claim: optional(claimCodec),
  }),
  (db) => {
    const accept = prepareAccept(db);
    const give = db.prepare(
      "update session set worker = ? where key = (select session from item where id = ?)",
    );
    const rows = prepareRows(db);
    return ({ team, member, state, event, dispatch, worker, claim }, moment): OrderedRow | Refusal => {
      const accepted = accept({ event, dispatch, claim, judge: 0 }, moment);
      if (accepted instanceof Refusal) return accepted;
      const { item, claim: claimed } = accepted.dispatched!;
      give.run(worker, item);
      rows.put({ team, member, state }, moment.nowMs);
      rows.noteItem({ team, member }, item);
      return { item, fresh: accepted.fresh, claim: claimed };
    };
  },
);

const prepareRows = oncePerDatabase((db: Database) => {
  const put = db.prepare(
    `insert into team_member (team, member, state, updated_ms) values (@team, @member, @state, @nowMs)
     on conflict (team, member) do update set state = excluded.state, updated_ms = excluded.updated_ms`,
  );
  const setItem = db.prepare(
    `update team_member set item = (select key from item where id = @item)
     where team = @team and member = @member`,
  );
  return {
    put: ({ team, member, state }: MemberInput, nowMs: number): void =>
      void put.run({ team, member, state, nowMs }),
    noteItem: ({ team, member }: Omit<MemberInput, "state">, item: string): void =>
      void setItem.run({ team, member, item }),
    forgetItem: ({ team, member }: Omit<MemberInput, "state">): void =>
      void setItem.run({ team, member, item: null }),
  };
});
