/**
 * Which rows are old and no longer needed. Pruning removes their text and keeps the rest: ids, times, hashes and the
 * tree.
 *
 * The context of a session in use stays complete, however old it is: a conversation must not lose its middle.
 * Everything that waits, is in progress or could be retried stays as well.
 */
import { IS_TOLD } from "./read-queue.ts";

/** Sessions in use, or whose last answer may not have been read yet. `s` is the session. */
const IN_USE = `(s.used_ms >= @beforeMs or s.run is not null
  or exists (select 1 from item i where i.session = s.key and i.settled_ms is null)
  or s.key in (select caller from delegation where state = 'open')
  or s.key in (select session from delegation
               where ended_ms is not null and reported_ms is null and state <> 'cancelled')
  or s.key in (select i.session from team_member m join item i on i.key = m.item)
  or s.key in (select i.session from relay r join relay_step p on p.relay = r.key join item i on i.key = p.item
               where r.ended_ms is null))`;

/** Sessions used since pruning began. */
export const USED_SINCE = `(s.used_ms >= @sinceMs
  or s.key in (select session from item indexed by item_open where settled_ms is null))`;

export const KEPT_TURNS = keptTurns(IN_USE);

/** The turns in the contexts of sessions, as `turns.context` walks them: back to the last compaction. */
export function keptTurns(sessions: string): string {
  return `with recursive kept (key, parent, stop) as (
    select t.key, t.parent, iif(t.type = 'compaction', coalesce(t.first_kept, t.key), null)
    from session s join turn t on t.key = s.head where ${sessions}
    union
    select t.key, t.parent, coalesce(k.stop, iif(t.type = 'compaction', coalesce(t.first_kept, t.key), null))
    from kept k join turn t on t.key = k.parent
    where (k.stop is null or k.stop <> k.key) and t.pruned_ms is null
  )`;
}

/** Dropped from a full queue, and the next turn has not been told yet: see `queue.unseenDrops`. `i` is the item. */
const UNSEEN = "(i.state = 'dropped' and i.policy = 'summarize' and i.turn is null)";

/** The item, or a hook's late text for its event, may still be read. Of people who are forgotten, no more than must. */
const WANTED = `(i.settled_ms is null
  or (@principals is null and ((i.state = 'dead' and not ${IS_TOLD}) or ${UNSEEN})))`;

/** Conditions on the rows of each table; the query adds the position to continue after. */
export const PRUNABLE = {
  /** Except kept turns. A turn whose answer is not delivered yet stays, or it could not be sent again. */
  turns: `t.completed_ms < @beforeMs and t.pruned_ms is null
    and not exists (select 1 from delivery d where d.turn = t.key 
                      and (d.settled_ms is null or (d.state = 'dead' and @principals is null)))`,

  /** An answer's event is pruned after its turn. Events that a session still has to be told of stay. */
  events: `e.received_ms < @beforeMs and e.pruned_ms is null
    and not exists (select 1 from item i where i.event = e.seq and ${WANTED})
    and not exists (select 1 from dispatch d join item i on i.key = d.item where d.event = e.seq and ${WANTED})
    and not exists (select 1 from unjudged u where u.event = e.seq)`,

  deliveries: `d.settled_ms < @beforeMs and (d.state <> 'dead' or @principals is not null)
    and (d.content is not null or d.extras is not null or exists (select 1 from chunk c where c.delivery = d.key and c.content <> ''))`,

  approvals: `a.asked_ms < @beforeMs and a.state <> 'open'
    and exists (select 1 from run r where r.key = a.run and r.ended_ms is not null)
    and coalesce(a.request -> 'args', a.request -> 'question') is not null`,

  /** Archived relays. */
  relays: `r.ended_ms < @beforeMs and r.archived = 1
    and (r.record ->> 'userMessage' <> ''
         or exists (select 1 from relay_step p where p.relay = r.key and p.record ->> 'input' <> ''))`,
} as const;

/** Who said an event: of one stored before there were principals, the person with its identity. */
const SPEAKER = "coalesce(e.principal, 'guest:' || e.channel || ':' || e.sender)";

const isByOne = (speaker: string): string =>
  `(@principals is null or ${speaker} in (select value from json_each(@principals)))`;

const ofTurn = (turn: string): string =>
  `(select coalesce(own.principal, (select ${SPEAKER} from event e where e.seq = own.source))
    from turn own where own.key = ${turn})`;

/** Restricts the conditions above to what was said on the authority of some, and what was answered. */
export const SAID_BY = {
  turns: isByOne(ofTurn("t.key")),
  events: isByOne(SPEAKER),
  deliveries: isByOne(ofTurn("d.turn")),
  approvals: isByOne(`(select ${SPEAKER} from run r join event e on e.seq = r.source where r.key = a.run)`),
  relays: isByOne(`(select ${SPEAKER} from event e where e.id = r.detail ->> '$.cause')`),
} as const;
