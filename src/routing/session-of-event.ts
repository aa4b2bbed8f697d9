import type { Config } from "../config/config.ts";
import { CortexError } from "../model/errors.ts";
import { placeKindOf } from "../model/event.ts";
import { DEFAULT_AGENT } from "../model/ids.ts";
import { present } from "../model/present.ts";
import { buildSessionKey, dmSessionKey, MAIN_SESSION, type SessionKey } from "../model/session-key.ts";
import type { NewEvent } from "../store/store.ts";

/**
 * The session of an event that nobody has routed: what is said in a group stays in the group's own session, and in its
 * topic's; a direct message goes where `dmScope` says. Only what is known to be a direct message can reach the main
 * session, because the owner's own conversation is there. Programs and the owner's terminal have no place: theirs is main.
 */
export function sessionOfEvent(
  event: NewEvent,
  { isPersons, config }: { readonly isPersons: boolean; readonly config: Config },
): SessionKey {
  const { id, channel, account, place, topic, sender } = event;
  const kind = placeKindOf(event) ?? (place === undefined || place === sender ? "dm" : "group");
  const at = present({ agent: DEFAULT_AGENT, channel, account, topic });
  if (kind !== "dm") {
    if (place === undefined) throw placeMissing(id, kind);
    return buildSessionKey({ kind: "place", placeKind: kind, place, ...at });
  }
  const peer = sender ?? place;
  if (!isPersons || peer === undefined) return MAIN_SESSION;
  return dmSessionKey({ ...at, peer, scope: config.dmScope, identityLinks: config.identityLinks });
}

function placeMissing(id: string, kind: string): CortexError {
  return new CortexError("target_invalid", `Event ${id} is from a ${kind} but has no \`place\``, {
    hint: "Return `routing` from the hook, or set `place` in the adapter.",
  });
}
