/**
 * Limits of people, over all sessions: how many of their messages wait, how many are taken in a minute, and what their
 * turns cost in a day. Decided in the commit that queues the message, by rows and by the time of the operation.
 */
import type { Database } from "better-sqlite3";

import type { DeliveryId } from "../../model/ids.ts";
import type { PersonLimits } from "../../model/person.ts";
import { isPersonPolicy, overLimitNotice, type PersonPolicy } from "../../model/person-limits.ts";
import { personIdOf, type Principal } from "../../model/principal.ts";
import { createUlidSource, deriveUlid } from "../../model/ulid.ts";
import type { PersonUse } from "../store.ts";
import { deliveryCodec, prepareInsertDeliveries } from "./insert-delivery.ts";
import type { Lane } from "./lane.ts";
import { operation, type OperationTime } from "./operation.ts";
import { prepareSpentBy } from "./read-costs.ts";
import { required } from "./row.ts";
import { type Decoded, number, optional, real, record, textOf } from "./wire.ts";

export const quotaCodec = record({
  pending: number,
  perMinute: number,
  usdPerDay: real,
  dayMs: number,
  notice: optional(deliveryCodec),
});

type Quota = Decoded<typeof quotaCodec>;

interface LimitedMessage {
  readonly event: number;
  readonly lane: Lane;
  /** Undefined: nothing bounds its sender. */
  readonly quota: Quota | undefined;
}

const MINUTE_MS = 60_000;
/** A person is told about a limit at most once in this time; about their budget, once a day. */
const NOTICE_MS = 10 * MINUTE_MS;

/** Whether a message is over a limit of its sender. If so, they are told, once in a while. */
export function preparePersonLimits(db: Database) {
  const isCaused = db
    .prepare<[number], number>("select 1 from event where seq = ? and cause is not null")
    .pluck();
  const findEarlier = db
    .prepare<[number], string | null>("select policy from item where event = ? order by key limit 1")
    .pluck();
  const findOwnLimits = db.prepare<[string], string>("select limits from person where id = ?").pluck();
  const countPending = db
    .prepare<[string, number], number>(
      `select count(*) from (
         select 1 from item i indexed by item_lane join event e on e.seq = i.event
         where i.lane = ? and i.lane is not null and i.settled_ms is null and i.state = 'queued' and e.cause is null
         limit ?)`,
    )
    .pluck();
  const spentBy = prepareSpentBy(db);
  const take = prepareTake(db);
  const notify = prepareNotify(db);

  return ({ event, lane, quota }: LimitedMessage, moment: OperationTime): PersonPolicy | undefined => {
    const person = lane === null ? undefined : personIdOf(lane);
    if (lane === null || person === undefined || quota === undefined) return undefined;
    // What a message causes has been paid for with it. Its money is counted all the same.
    if (isCaused.get(event) !== undefined) return undefined;
    const earlier = findEarlier.get(event);
    if (earlier !== undefined) return earlier !== null && isPersonPolicy(earlier) ? earlier : undefined;
    const own = JSON.parse(findOwnLimits.get(person) ?? "{}") as PersonLimits;
    const limits = { ...quota, ...own };
    const policy = reached(lane, limits, moment.nowMs);
    if (policy !== undefined) notify({ lane, policy, quota: limits }, moment);
    return policy;
  };

  function reached(lane: string, quota: Quota, nowMs: number): PersonPolicy | undefined {
    if (required(countPending.get(lane, quota.pending)) >= quota.pending) return "person-pending";
    if (spentBy(lane, quota.dayMs) >= quota.usdPerDay) return "person-budget";
    const one = { lane, amount: 1, max: quota.perMinute, refillMs: MINUTE_MS };
    return take(one, nowMs) ? undefined : "person-rate";
  }
}

interface Taking {
  readonly lane: string;
  readonly amount: number;
  readonly max: number;
  readonly refillMs: number;
}

/** A bucket, such as of the messages of a minute, which fills in a minute. */
function prepareTake(db: Database): (taking: Taking, nowMs: number) => boolean {
  const find = db.prepare<[string], { left: number; at_ms: number }>(
    "select tokens as left, at_ms from person_rate where lane = ?",
  );
  const keep = db.prepare(
    `insert into person_rate (lane, tokens, at_ms) values (?, ?, ?)
     on conflict (lane) do update set tokens = excluded.tokens, at_ms = excluded.at_ms`,
  );
  return ({ lane, amount, max, refillMs }, nowMs) => {
    const { left, at_ms: atMs } = find.get(lane) ?? { left: max, at_ms: nowMs };
    const filled = Math.min(max, left + (max * Math.max(0, nowMs - atMs)) / refillMs);
    if (filled < amount) return false;
    keep.run(lane, filled - amount, nowMs);
    return true;
  };
}

export const takeFromPerson = operation(
  record({
    principal: textOf<Principal>(),
    what: textOf<PersonUse["what"]>(),
    amount: real,
    max: real,
    refillMs: number,
  }),
  (db) => {
    const take = prepareTake(db);
    return ({ principal, what, ...taking }, { nowMs }): boolean =>
      take({ lane: what === "messages" ? principal : `${principal} ${what}`, ...taking }, nowMs);
  },
);

function prepareNotify(db: Database) {
  const isThere = db.prepare<[string], number>("select 1 from delivery where id = ?").pluck();
  const insert = prepareInsertDeliveries(db);
  return (
    { lane, policy, quota }: { lane: string; policy: PersonPolicy; quota: Quota },
    { nowMs, wake }: OperationTime,
  ): void => {
    const { notice } = quota;
    if (notice === undefined) return;
    const window = policy === "person-budget" ? quota.dayMs : nowMs - (nowMs % NOTICE_MS);
    const id = deriveUlid(createUlidSource(() => window)(), `${lane} ${policy}`) as DeliveryId;
    if (isThere.get(id) !== undefined) return;
    insert(
      [{ ...notice, id, content: overLimitNotice(policy, quota) }],
      { turn: null, message: null },
      nowMs,
    );
    wake("outbox");
  };
}
