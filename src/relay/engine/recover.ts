/** What becomes of relays that the process before this one was at work on. */
import type { RelayId } from "../../model/ids.ts";
import { finish, INTERRUPTED } from "../record/ending.ts";
import { updateRelay } from "../record/kept-relay.ts";
import { recordCutOff, scriptAt } from "../record/phases.ts";
import type { Store, StoredRelayStep } from "../../store/store.ts";

/**
 * With `fail`, all that were at work fail, and what runs of them is asked to end; their scripts for the end still run.
 * One whose step waits for an answer was not at work, and waits on. With `resume`, they only have to be looked at; so do those that were
 * started to go on.
 * Where the process ends in the midst of it, the next one does the rest: a relay that is coming to its end already is
 * left to it.
 */
export async function recover(
  store: Pick<Store, "relays">,
  onRestart: "fail" | "resume",
  clock: () => number,
): Promise<void> {
  for (const id of await openRelays(store)) {
    await updateRelay(id, store, ({ record, rows, content, detail }) => {
      if (onRestart === "resume" || detail.resumes === true || isWaiting(rows) || record.ending !== null)
        return { record };
      const { phase } = record;
      const script = phase.kind === "script" ? scriptAt(phase, content, undefined) : undefined;
      const known = recordCutOff(record, script?.command ?? "", clock());
      const failed = finish(known, { stopReason: "failed", error: INTERRUPTED }, clock());
      return { record: failed, stop: INTERRUPTED };
    });
  }
}

function isWaiting(rows: readonly StoredRelayStep[]): boolean {
  const running = rows.filter(({ state }) => state === "running");
  return running.length > 0 && running.every(({ wait }) => wait !== undefined);
}

async function openRelays({ relays }: Pick<Store, "relays">): Promise<RelayId[]> {
  const ids: RelayId[] = [];
  let cursor: string | undefined;
  do {
    const page = await relays.list({
      states: ["running", "waiting"],
      ...(cursor === undefined ? {} : { cursor }),
    });
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.next;
  } while (cursor !== undefined);
  return ids;
}
