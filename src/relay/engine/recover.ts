/** Handles relays that were running when the previous process ended. */
import type { RelayId } from "../../model/ids.ts";
import { finish, INTERRUPTED } from "../record/ending.ts";
import { allRelays, updateRelay } from "../record/kept-relay.ts";
import { recordCutOff, scriptAt } from "../record/phases.ts";
import type { Store, StoredRelayStep } from "../../store/store.ts";

/**
 * With `fail`, running relays fail and their steps are stopped; their end scripts still run. A relay whose step waits for
 * an answer keeps waiting. With `resume`, and for relays started to survive a restart, the engine just continues them.
 *
 * If the process ends during recovery, the next one does the rest: relays that are already ending are left as they are.
 */
export async function recover(
  store: Pick<Store, "relays">,
  onRestart: "fail" | "resume",
  clock: () => number,
): Promise<void> {
  const open: RelayId[] = []; // complete before any of them changes
  for await (const { id } of allRelays(store.relays, { states: ["running", "waiting"] })) open.push(id);
  for (const id of open) {
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
