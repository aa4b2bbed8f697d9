/** The ids of messages that tell of a flag. Such a message gives nobody work, and is nobody's instruction. */
import { createHash } from "node:crypto";

import { eventId, splitEventId, TEAM_ADAPTER } from "../../model/event.ts";
import type { EventId } from "../../model/ids.ts";

/** What work is asked for has the id of that work, which has no colon. */
const PREFIX = "flag:";

/** The same flag always has the same one. */
export function noticeId(team: string, flag: string): EventId {
  const digest = createHash("sha256").update(`${team}\n${flag}`).digest("hex").slice(0, 24);
  return eventId(TEAM_ADAPTER, { kind: "id", sourceId: PREFIX + digest });
}

export function isNotice({ id }: { readonly id: string }): boolean {
  const { adapter, sourceId } = splitEventId(id);
  return adapter === TEAM_ADAPTER && sourceId.startsWith(PREFIX);
}
