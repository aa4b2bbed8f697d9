/**
 * What is old and needed by nobody. Pruning takes what was said out of it and leaves the rest: ids, times, hashes, and
 * who follows whom.
 *
 * The context of a session that is still in use stays whole, however old it is: a conversation must not forget in the
 * middle. Whatever waits, is under way, or could be tried again stays as well.
 */
import { IS_TOLD } from "./read-queue.ts";

/** Sessions that somebody may be in the middle of, or whose last answer somebody is yet to read. `s` is the session. */
const IN_USE = `(s.used_ms >= @beforeMs or s.run is not null
  or exists (select 1 from item i where i.session = s.key and i.settled_ms is null)
  or s.key in (select caller from delegation where state = 'open')
  or s.key in (select session from delegation
               where ended_ms is not null and reported_ms is null and state <> 'cancelled')
  or s.key in (select i.session from team_member m join item i on i.key = m.item)
  or s.key in (select i.session from relay r join relay_step p on p.relay = r.key join item i on i.key = p.item
               where r.ended_ms is null))`;

/** Sessions that somebody has taken up while it is pruned. */
export const USED_SINCE = `(s.used_ms >= @sinceMs
  or s.key in (select session from item indexed by item_open where settled_ms is null))`;

export const KEPT_TURNS = keptTurns(IN_USE);

/** The turns that contexts of sessions are made of, as `turns.context` walks them: back to the last compaction. */
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

/** Dropped from a queue that was full, for the next turn to be told of: see `queue.unseenDrops`. `i` is the item. */
const UNSEEN = "(i.state = 'dropped' and i.policy = 'summarize' and i.turn is null)";

/** Somebody may still read it, or what a hook has said of its event late. `i` is the item. */
const WANTED = `(i.settled_ms is null or (i.state = 'dead' and not ${IS_TOLD}) or ${UNSEEN})`;

/** Each is a condition on rows of its table; the place after which to look is asked for beside it. */
export const PRUNABLE = {
  /** But for those that are kept. An answer that is not delivered could not be sent again. */
  turns: `t.completed_ms < @beforeMs and t.pruned_ms is null
    and not exists (select 1 from delivery d where d.turn = t.key and (d.settled_ms is null or d.state = 'dead'))`,

  /** An answer's event goes with its turn, which must have gone before. A session is yet to be told of what it missed. */
  events: `e.received_ms < @beforeMs and e.pruned_ms is null
    and not exists (select 1 from item i where i.event = e.seq and ${WANTED})
    and not exists (select 1 from dispatch d join item i on i.key = d.item where d.event = e.seq and ${WANTED})
    and not exists (select 1 from unjudged u where u.event = e.seq)`,

  deliveries: `d.settled_ms < @beforeMs and d.state <> 'dead'
    and (d.content is not null or exists (select 1 from chunk c where c.delivery = d.key and c.content <> ''))`,

  approvals: `a.asked_ms < @beforeMs and a.state <> 'open'
    and exists (select 1 from run r where r.key = a.run and r.ended_ms is not null)
    and coalesce(a.request -> 'args', a.request -> 'question') is not null`,

  /** Those that have left the lists. */
  relays: `r.ended_ms < @beforeMs and r.archived = 1
    and (r.record ->> 'userMessage' <> ''
         or exists (select 1 from relay_step p where p.relay = r.key and p.record ->> 'input' <> ''))`,
} as const;
