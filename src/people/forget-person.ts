import { prunePeople, type Pruned } from "../keep/prune.ts";
import type { ItemId } from "../model/ids.ts";
import { CortexError } from "../model/errors.ts";
import { OWNER_ID } from "../model/person.ts";
import { guestPrincipal, personPrincipal, type Principal } from "../model/principal.ts";
import type { Actor, Store } from "../store/store.ts";

const FORGOTTEN = "forgotten";
/** Waiting messages that are dropped at a time. */
const BATCH = 1_000;

/**
 * Removes a person and the text of what they said, also before they were known, and of what was answered. They are a
 * guest first, so that nothing of theirs begins meanwhile, and are removed last: cut off, it is done again.
 */
export async function forgetPerson(
  id: string,
  { home, store, by, nowMs }: { home: string; store: Store; by: Actor; nowMs: number },
): Promise<Pruned> {
  if (id === OWNER_ID) throw ownerForgotten();
  const { identities } = await store.people.change(id, { role: "guest" }, by);
  const principals = [personPrincipal(id), ...identities.map(guestPrincipal)];
  await dropWaiting(principals, store);
  const pruned = await prunePeople(store, { home, principals, nowMs });
  await checkNothingLeft(id, principals, store);
  await store.people.remove(id, by);
  return pruned;
}

/** A turn of theirs that runs, or an answer on its way, still needs its text. */
async function checkNothingLeft(id: string, principals: readonly Principal[], store: Store): Promise<void> {
  const [left] = await store.query(
    `with theirs as (select value as principal from json_each(?))
     select (select count(*) from agent_turns where pruned_at is null and principal in (select principal from theirs))
       + (select count(*) from events where pruned_at is null and principal in (select principal from theirs)) as count`,
    [JSON.stringify(principals)],
  );
  if (left?.["count"] === 0) return;
  throw new CortexError("state_conflict", `Some messages of "${id}" are still being answered or delivered`, {
    hint:
      `The person is a guest now. Run \`cortex people forget ${id}\` again in a minute; ` +
      "`cortex runs` and `cortex status` show what is in progress.",
  });
}

async function dropWaiting(principals: readonly Principal[], store: Store): Promise<void> {
  for (;;) {
    const rows = await store.query(
      `select id from queue_items where status = 'queued' and principal in (select value from json_each(?)) limit ${BATCH}`,
      [JSON.stringify(principals)],
    );
    const dropped = await store.queue.drop(
      rows.map(({ id }) => id as ItemId),
      FORGOTTEN,
    );
    if (dropped.length === 0) return; // none waits, or what is left runs already
  }
}

function ownerForgotten(): CortexError {
  return new CortexError("state_conflict", "The owner cannot be forgotten", {
    hint: "Use `cortex prune` to delete old content.",
  });
}
