/** Archives old relays and removes their workspaces. Their records stay in the ledger. */
import { HOUR_MS } from "../../model/durations.ts";
import { forgetArtifacts, removeWorkspace } from "../artifact/artifact.ts";
import { forgetChanges } from "./step-files.ts";
import { allRelays, toRecord, toStep } from "../record/kept-relay.ts";
import type { Store, StoredRelay } from "../../store/store.ts";

/** How long a relay is listed after its end. */
export const KEPT_MS = 7 * 24 * HOUR_MS;
/** The same for a relay without a workspace. */
export const SHORTEST_KEPT_MS = 24 * HOUR_MS;

/** Relays per page. */
const PAGE = 100;

/**
 * Removes the workspace first: after a crash in between, the relay is listed without one and archived next time. Returns
 * the number of archived relays.
 */
export async function archiveOld(
  { relays }: Pick<Store, "relays">,
  home: string,
  nowMs: number,
): Promise<number> {
  let archived = 0;
  for (;;) {
    // Relays without a workspace expire earlier, and are listed among the others.
    const old = (await relays.endedBefore(nowMs - SHORTEST_KEPT_MS, { limit: 1_000 })).filter(
      (relay) => !hasWorkspace(relay) || (relay.endedAtMs ?? nowMs) < nowMs - KEPT_MS,
    );
    if (old.length === 0) break;
    for (const { id } of old) {
      await removeWorkspace(home, id);
      await forgetChanges(home, id);
    }
    await relays.archive(old.map(({ id }) => id));
    archived += old.length;
  }
  if (archived > 0) await forgetUnnamed(relays, home);
  return archived;
}

function hasWorkspace(relay: StoredRelay): boolean {
  return toRecord(relay, []).workspacePath !== "";
}

async function forgetUnnamed(relays: Store["relays"], home: string): Promise<void> {
  const named = new Set<string>();
  for await (const { id } of allRelays(relays, { limit: PAGE })) {
    for (const { artifactBefore, artifactHash } of (await relays.steps(id)).map(toStep)) {
      for (const hash of [artifactBefore, artifactHash]) if (typeof hash === "string") named.add(hash);
    }
  }
  await forgetArtifacts(home, (hash) => named.has(hash));
}
