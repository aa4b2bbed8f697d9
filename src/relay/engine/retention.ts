/** Which relays leave the lists, with their workspaces: records stay in the ledger. */
import { HOUR_MS } from "../../model/durations.ts";
import { forgetArtifacts, removeWorkspace } from "../artifact/artifact.ts";
import { forgetChanges } from "./step-files.ts";
import { toRecord, toStep } from "../record/kept-relay.ts";
import type { Store, StoredRelay } from "../../store/store.ts";

/** How long a relay is kept after its end. */
export const KEPT_MS = 7 * 24 * HOUR_MS;
/** One that has no workspace. */
export const SHORTEST_KEPT_MS = 24 * HOUR_MS;

/** Looked at at a time. */
const PAGE = 100;

/**
 * The workspace goes first: a crash in between leaves a relay that is listed without one, and is archived the next
 * time. Returns how many were archived.
 */
export async function archiveOld(
  { relays }: Pick<Store, "relays">,
  home: string,
  nowMs: number,
): Promise<number> {
  let archived = 0;
  for (;;) {
    // Those without a workspace are old sooner, and stand between the others.
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
  let cursor: string | undefined;
  do {
    const page = await relays.list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    for (const { id } of page.items) {
      for (const { artifactBefore, artifactHash } of (await relays.steps(id)).map(toStep)) {
        for (const hash of [artifactBefore, artifactHash]) if (typeof hash === "string") named.add(hash);
      }
    }
    cursor = page.next;
  } while (cursor !== undefined);
  await forgetArtifacts(home, (hash) => named.has(hash));
}
