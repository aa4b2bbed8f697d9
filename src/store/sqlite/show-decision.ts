/** Shows what became of a request in the message by which a place was told of it, which loses its buttons. */
import type { Database } from "better-sqlite3";

import { decidedNotice, type Decided } from "../../model/decision-text.ts";
import { isOwner, personIdOf } from "../../model/principal.ts";
import { deriveUlid } from "../../model/ulid.ts";
import type { DeliveryId } from "../../model/ids.ts";
import type { ApprovalAnswer } from "../store.ts";
import { type DeliveryInput, prepareInsertDeliveries } from "./insert-delivery.ts";
import { oncePerDatabase } from "./once.ts";
import type { OperationTime } from "./operation.ts";

interface NoticeRow extends Omit<DeliveryInput, "replyTo" | "extras" | "content"> {
  readonly content: string;
  readonly turn: number | null;
  readonly chunks: number;
}

/** In the commit that decides: whenever the process dies, the request is open with its buttons, or decided without. */
export const prepareShowDecision = oncePerDatabase((db: Database) => {
  const find = db.prepare<[number], NoticeRow>(
    `select d.id, d.channel, d.account, d.place, d.topic, d.target, d.turn, coalesce(d.content, '') as content,
       (select count(*) from chunk c where c.delivery = d.key) as chunks
     from approval a join delivery d on d.id = a.notice
     where a.key = ? and json_array_length(d.extras, '$.buttons') > 0`,
  );
  const isThere = db.prepare<[string], number>("select 1 from delivery where id = ?").pluck();
  const insertDeliveries = prepareInsertDeliveries(db);
  return (approval: number, decided: Decided, { nowMs, wake }: OperationTime): void => {
    const notice = find.get(approval);
    if (notice === undefined) return;
    const { turn, chunks, content, ...address } = notice;
    const id = deriveUlid(notice.id, `${notice.id}/${decided.state}`) as DeliveryId;
    if (isThere.get(id) !== undefined) return;
    const shown = {
      ...address,
      id,
      replyTo: null,
      content: decidedNotice(content, decided, { isSplit: chunks > 1 }),
      extras: JSON.stringify({ edits: notice.id }),
    };
    insertDeliveries([shown], { turn, message: null }, nowMs);
    wake("outbox");
  };
});

/** The name of who answered, as people know them. */
export const prepareNameOf = oncePerDatabase((db: Database) => {
  const find = db.prepare<[string], string>("select name from person where id = ?").pluck();
  return ({ by }: Pick<ApprovalAnswer, "by">): string => {
    if (isOwner(by)) return "the owner";
    const id = personIdOf(by);
    return id === undefined ? by : (find.get(id) ?? id);
  };
});
