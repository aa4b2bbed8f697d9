/** What a relay holds: what was asked, and what the sessions of its steps have come into contact with. */
import type { RelayId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { OWNER_PRINCIPAL, type Principal } from "../../model/principal.ts";
import type { ToolResult } from "../../model/tool.ts";
import { joinLabels, type Label, NO_LABEL, parseTrust, readTrust } from "../../model/trust.ts";
import { readRelay, type RelayDetail } from "../record/kept-relay.ts";
import type { RelayRecord } from "../record/record.ts";
import { readRelayResult } from "../record/summary.ts";
import type { Store } from "../../store/store.ts";

/** Sessions whose words are in the artifact or in a prompt: the one that started the relay, and those of all steps so far. */
export function sessionsIn({ steps }: RelayRecord, { session }: RelayDetail): SessionKey[] {
  const sessions = [session, ...steps.map(({ sessionId }) => sessionId as SessionKey | null)];
  return [...new Set(sessions.filter((key) => key !== undefined && key !== null))];
}

/** Of the message that the relay was started with. */
export function labelOfMessage({ label }: RelayDetail): Label {
  return readLabel(label);
}

export function readLabel(stored: Json | undefined): Label {
  const { outward: _, ...sets } = parseTrust(stored);
  return sets;
}

/** Of the artifact, and of everything else that comes out of a relay. */
export async function labelOfRelay(
  record: RelayRecord,
  detail: RelayDetail,
  { sessions }: Pick<Store, "sessions">,
): Promise<Label> {
  const labels = sessionsIn(record, detail).map(async (key): Promise<Label> => {
    const { outward: _, ...sets } = readTrust((await sessions.get(key))?.settings ?? {});
    return sets;
  });
  return joinLabels(NO_LABEL, labelOfMessage(detail), ...(await Promise.all(labels)));
}

export async function principalOfRelay(
  { principal, cause }: RelayDetail,
  { events }: Pick<Store, "events">,
): Promise<Principal> {
  const caused = cause === undefined ? undefined : await events.get(cause);
  return principal ?? caused?.principal ?? OWNER_PRINCIPAL;
}

/** As `readRelayResult`, with the label of the relay. */
export async function readLabelledResult(
  id: RelayId,
  { home, store }: { readonly home: string; readonly store: Store },
): Promise<ToolResult | undefined> {
  const result = await readRelayResult(id, { home, store });
  const relay = result === undefined ? undefined : await readRelay(id, store);
  if (result === undefined || relay === undefined) return result;
  return { ...result, label: await labelOfRelay(relay.record, relay.detail, store) };
}
